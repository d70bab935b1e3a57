#include "app/arrow/batch_producer.h"

#include <utility>

#include "core/guard.h"

namespace stackpack::app {

BatchProducer::BatchProducer(arrow::Projection projection, std::size_t batch_rows, Fill fill)
    : projection_(std::move(projection)),
      batch_rows_(batch_rows),
      fill_(std::move(fill)),
      filling_(projection_),
      ready_(projection_) {}

BatchProducer::~BatchProducer() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Status BatchProducer::next(arrow::Batch& batch) {
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || ready_.rows() != 0; });
  if (ready_.rows() == 0) {
    return status_;
  }
  batch.swap_rows(ready_);
  changed_.notify_all();
  return {};
}

Status BatchProducer::end_row() {
  filling_.end_row();
  return filling_.full(batch_rows_) ? hand_over() : Status();
}

Status BatchProducer::hand_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cancelled_ || ready_.rows() == 0; });
  if (cancelled_) {
    return Error{ErrorCode::kCancelled, kNoOffset, "the stream was released"};
  }
  ready_.swap_rows(filling_);
  changed_.notify_all();
  return {};
}

void BatchProducer::run() {
  const Status done = core::guarded([this]() -> Status {
    const Status filled = fill_(*this, {nullptr, &cancelled_});
    return filled && filling_.rows() != 0 ? hand_over() : filled;
  });
  const std::lock_guard lock(mutex_);
  status_ = done;
  ended_ = true;
  changed_.notify_all();
}

}  // namespace stackpack::app
