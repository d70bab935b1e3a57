#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "app/arrow/pid_sources.h"
#include "app/arrow/table_rows.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum SampleField : std::size_t {
  kSampleTime,
  kSamplePid,
  kSampleTid,
  kSampleCpu,
  kSampleEvent,
  kSampleWeight,
  kSampleOrigin,
  kSampleFlagBits,
  kSampleCallstack,
  kSampleStack,
  kSampleSource,
  kSampleFieldCount
};

constexpr std::array<Field, kSampleFieldCount> kSampleFields{{
    {"time_ns", ColumnType::kUInt64, false, "ns"},
    {"pid", ColumnType::kUInt32, true},
    {"tid", ColumnType::kUInt32, true},
    {"cpu", ColumnType::kUInt32, true},
    {"event", ColumnType::kDictionary, false},
    {"weight", ColumnType::kUInt64, false},
    {"origin", ColumnType::kDictionary, false},
    {"flags", ColumnType::kUInt8, false},
    {"callstack", ColumnType::kUInt32, true},
    {"stack", ColumnType::kUInt32, true},
    {"source", ColumnType::kUInt32, true},
}};

std::shared_ptr<const arrow::Dictionary> origin_dictionary() {
  auto names = std::make_shared<arrow::Dictionary>();
  for (const std::string_view name : kOriginNames) {
    names->add(name);
  }
  return names;
}

std::shared_ptr<const arrow::Dictionary> event_dictionary(const std::vector<Event>& events) {
  auto names = std::make_shared<arrow::Dictionary>();
  for (const Event& event : events) {
    names->add(event.name);
  }
  return names;
}

/// The samples of a file, block by block. Threads: one at a time.
class SampleCursor {
 public:
  SampleCursor(SharedTables tables, const ArrowOptions& options)
      : tables_(std::move(tables)), batch_rows_(options.batch_rows) {
    query_.from_ns = options.from_ns;
    query_.to_ns = options.to_ns;
    query_.any_order = options.any_order;
  }

  Status next(Batch& batch) {
    if (const Status started = start(batch); !started) {
      return started;
    }
    while (at_ == block_.size()) {
      if (block_number_ == block_count_) {
        return {};
      }
      at_ = 0;
      if (const Status read = tables_->reader().sample_block(block_number_++, query_, block_);
          !read) {
        return read;
      }
    }
    const auto rows =
        std::span(block_).subspan(at_, std::min<std::size_t>(block_.size() - at_, batch_rows_));
    at_ += rows.size();
    put_plain(batch, rows);
    put_named(batch, rows);
    return put_numbered(batch, rows);
  }

 private:
  Status start(const Batch& batch) {
    if (!started_) {
      const Result<std::uint64_t> blocks = tables_->reader().sample_block_count();
      if (!blocks) {
        return blocks.error();
      }
      block_count_ = *blocks;
      const auto view = tables_->view();
      if (!view) {
        return view.error();
      }
      events_ = event_dictionary((*view)->events);
      origins_ = origin_dictionary();
      started_ = true;
    }
    if (batch.wants(kSampleCallstack) && stacks_ == nullptr) {
      const auto stacks = tables_->stacks();
      if (!stacks) {
        return stacks.error();
      }
      stacks_ = *stacks;
    }
    return batch.wants(kSampleSource) ? find_sources() : Status{};
  }

  Status find_sources() {
    if (!sources_) {
      const auto sources = tables_->sources();
      const auto view = tables_->view();
      if (!sources || !view) {
        return sources ? Status(view.error()) : Status(sources.error());
      }
      sources_.emplace(**sources, (*view)->source_count != 0);
    }
    return {};
  }

  template <typename Number, typename ValueOf>
  static void put(Batch& batch, std::size_t field, std::span<const StoredSample> rows,
                  const std::optional<Number>& null, const ValueOf& value) {
    if (batch.wants(field)) {
      batch.column(field).add_numbers<Number>(rows.size(), null,
                                              [&](std::size_t i) { return value(rows[i]); });
    }
  }

  static void put_plain(Batch& batch, std::span<const StoredSample> rows) {
    const std::optional<std::uint32_t> unknown = kUnknownId;
    const std::optional<std::uint64_t> never;
    put(batch, kSampleTime, rows, never, [](const StoredSample& s) { return s.time_ns; });
    put(batch, kSamplePid, rows, unknown, [](const StoredSample& s) { return s.pid; });
    put(batch, kSampleTid, rows, unknown, [](const StoredSample& s) { return s.tid; });
    put(batch, kSampleCpu, rows, unknown, [](const StoredSample& s) { return s.cpu; });
    put(batch, kSampleWeight, rows, never, [](const StoredSample& s) { return s.weight; });
    put(batch, kSampleFlagBits, rows, std::optional<std::uint8_t>(),
        [](const StoredSample& s) { return s.flags; });
    put(batch, kSampleStack, rows, std::optional<StackId>(kNoStack),
        [](const StoredSample& s) { return s.stack; });
    batch.add_rows(rows.size());
  }

  void put_named(Batch& batch, std::span<const StoredSample> rows) const {
    const std::optional<std::int32_t> never;
    if (batch.wants(kSampleEvent)) {
      put(batch, kSampleEvent, rows, never,
          [](const StoredSample& s) { return static_cast<std::int32_t>(s.event); });
      batch.column(kSampleEvent).use_dictionary(events_);
    }
    if (batch.wants(kSampleOrigin)) {
      put(batch, kSampleOrigin, rows, never,
          [](const StoredSample& s) { return static_cast<std::int32_t>(s.origin); });
      batch.column(kSampleOrigin).use_dictionary(origins_);
    }
  }

  Status put_numbered(Batch& batch, std::span<const StoredSample> rows) {
    put(batch, kSampleSource, rows, std::optional<std::uint32_t>(kUnknownId),
        [this](const StoredSample& s) { return sources_->of(s.pid).source; });
    if (!batch.wants(kSampleCallstack)) {
      return {};
    }
    numbers_.resize(rows.size());
    if (const Status found = stacks_->find(rows, *cache_, numbers_); !found) {
      return found;
    }
    batch.column(kSampleCallstack)
        .add_numbers<std::uint32_t>(rows.size(), std::optional(CallstackNumbers::kNone),
                                    [this](std::size_t i) { return numbers_[i]; });
    return {};
  }

  SharedTables tables_;
  std::size_t batch_rows_;
  SampleQuery query_;
  bool started_ = false;
  std::uint64_t block_count_ = 0;
  std::uint64_t block_number_ = 0;  // the next one
  std::vector<StoredSample> block_;
  std::size_t at_ = 0;
  std::shared_ptr<const arrow::Dictionary> events_;
  std::shared_ptr<const arrow::Dictionary> origins_;
  const CallstackNumbers* stacks_ = nullptr;
  std::unique_ptr<PlaceCache> cache_ = std::make_unique<PlaceCache>();
  std::vector<std::uint32_t> numbers_;
  std::optional<PidSources> sources_;
};

}  // namespace

std::span<const Field> sample_fields() {
  return kSampleFields;
}

NextRows sample_rows(const SharedTables& tables, const ArrowOptions& options) {
  // A std::function is copied with what it has: a cursor is not.
  return [cursor = std::make_shared<SampleCursor>(tables, options)](Batch& batch) {
    return cursor->next(batch);
  };
}

}  // namespace stackpack::app
