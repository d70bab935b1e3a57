#include "app/batch/batch.h"

#include <algorithm>
#include <new>
#include <utility>

#include "app/convert/fingerprint.h"

namespace stackpack::app {

Batch::Batch(std::vector<BatchJob> jobs, const BatchOptions& options)
    : jobs_(std::move(jobs)), options_(options), results_(jobs_.size()) {
  std::uint64_t workers = std::max(1U, options.workers);
  workers = std::min<std::uint64_t>(workers, std::max<std::size_t>(1, jobs_.size()));
  const std::uint64_t limit = options.convert.memory_limit;
  if (limit != 0) {
    workers = std::clamp<std::uint64_t>(limit / kLeastMemoryLimit, 1, workers);
    options_.convert.memory_limit = limit / workers;
  }
  unsigned& encoders = options_.convert.encoders;
  if (encoders == ConvertOptions::kAutoEncoders && workers > 1) {
    // Conversions side by side keep the processors busy by themselves.
    constexpr std::uint64_t kMost = 2;
    const std::uint64_t share = std::thread::hardware_concurrency() / workers;
    encoders = static_cast<unsigned>(std::clamp<std::uint64_t>(share, 1, kMost + 1) - 1);
  }
  slots_.resize(static_cast<std::size_t>(workers));
}

Batch::~Batch() {
  cancel();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Batch::start() {
  active_ = slots_.size();
  for (std::size_t worker = 0; worker < slots_.size(); ++worker) {
    threads_.emplace_back([this, worker] { work(worker); });
  }
}

void Batch::work(std::size_t worker) {
  std::unique_lock lock(mutex_);
  while (next_ < jobs_.size() && !cancelled_) {
    const std::size_t job = next_++;
    slots_[worker] = std::make_unique<Slot>();
    Slot& slot = *slots_[worker];
    slot.job = job;
    slot.begin = Clock::now();
    lock.unlock();
    BatchResult result = run(jobs_[job], slot.progress);
    result.seconds = std::chrono::duration<double>(Clock::now() - slot.begin).count();
    lock.lock();
    results_[job] = std::move(result);
    slots_[worker].reset();
    ended_.push_back(job);
    changed_.notify_one();
  }
  --active_;
  changed_.notify_one();
}

BatchResult Batch::run(const BatchJob& job, ConvertProgress& progress) const {
  BatchResult result;
  try {
    ConvertOptions options = options_.convert;
    if (!job.member.empty()) {
      options.member = job.member;
    }
    if (options_.skip_existing) {
      // What is wrong with an input is for the conversion to say.
      const std::vector<std::string> inputs =
          job.session.empty() ? std::vector{job.input} : job.session;
      const Result<std::string> content = content_of_all(inputs, {});
      if (content && !content->empty() &&
          std::all_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
            return is_up_to_date(input, job.output, fingerprint_of(*content, options));
          })) {
        result.outcome = BatchOutcome::kSkipped;
        return result;
      }
    }
    Result<ConvertReport> report =
        job.session.empty() ? convert(job.input, job.output, options, &progress)
                            : convert_session(job.session, job.output, options, &progress);
    if (report) {
      result.outcome = BatchOutcome::kConverted;
      result.report = std::move(*report);
    } else {
      result.outcome = BatchOutcome::kFailed;
      result.error = report.error();
    }
  } catch (const std::bad_alloc&) {
    // The standard library's only way to say so; the other jobs may still have enough.
    result.outcome = BatchOutcome::kOutOfMemory;
  }
  return result;
}

std::vector<std::size_t> Batch::wait(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [this] { return !ended_.empty() || active_ == 0; });
  return std::exchange(ended_, {});
}

bool Batch::done() const {
  const std::scoped_lock lock(mutex_);
  return active_ == 0 && ended_.empty();
}

void Batch::cancel() {
  const std::scoped_lock lock(mutex_);
  cancelled_ = true;
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot) {
      slot->progress.cancelled = true;
    }
  }
}

std::vector<BatchRunning> Batch::running() const {
  const std::scoped_lock lock(mutex_);
  std::vector<BatchRunning> result;
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot) {
      result.push_back(
          {slot->job, std::chrono::duration<double>(Clock::now() - slot->begin).count(),
           slot->progress.bytes_done, slot->progress.bytes_total, slot->progress.samples});
    }
  }
  return result;
}

}  // namespace stackpack::app
