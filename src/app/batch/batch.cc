#include "app/batch/batch.h"

#include <algorithm>
#include <utility>

#include "app/convert/fingerprint.h"
#include "core/guard.h"
#include "io/files_read.h"
#include "io/scratch_directory.h"
#include "stackpack/merge.h"

namespace stackpack::app {

unsigned share_out(ConvertOptions& convert, unsigned workers, std::size_t jobs,
                   unsigned processors) {
  std::uint64_t at_a_time = std::max(1U, workers);
  at_a_time = std::min<std::uint64_t>(at_a_time, std::max<std::size_t>(1, jobs));
  if (convert.memory_limit != 0) {
    at_a_time =
        std::clamp<std::uint64_t>(convert.memory_limit / Batch::kLeastMemoryLimit, 1, at_a_time);
    convert.memory_limit /= at_a_time;
  }
  convert.at_a_time = static_cast<unsigned>(at_a_time);
  if (convert.encoders == ConvertOptions::kAutoEncoders && at_a_time > 1) {
    // Conversions side by side keep the processors busy by themselves.
    constexpr std::uint64_t kMost = 2;
    const std::uint64_t share = processors / at_a_time;
    convert.encoders = static_cast<unsigned>(std::clamp<std::uint64_t>(share, 1, kMost + 1) - 1);
  }
  return convert.at_a_time;
}

Batch::Batch(std::vector<BatchJob> jobs, const BatchOptions& options)
    : jobs_(std::move(jobs)), options_(options), results_(jobs_.size()) {
  workers_ = share_out(options_.convert, options.workers, jobs_.size(),
                       std::thread::hardware_concurrency());
  slots_ = std::make_unique<Slot[]>(workers_);
  threads_.reserve(workers_);
  ended_.reserve(jobs_.size());
}

Batch::~Batch() {
  cancel();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

Status Batch::start() {
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    {
      const std::scoped_lock lock(mutex_);
      ++active_;
    }
    const Status started =
        core::guarded([this, worker, run = io::FilesRead::current()]() -> Status {
          threads_.emplace_back([this, worker, run] {
            const io::FilesRead::Joined joined(run);
            const ArchiveOfBatch::Joined same_archive(archive_);
            work(worker);
          });
          return {};
        });
    if (!started) {
      const std::scoped_lock lock(mutex_);
      --active_;
      if (threads_.empty()) {
        return Error{ErrorCode::kResource, kNoOffset, "cannot start a thread",
                     started.error().os_error};
      }
      break;
    }
  }
  return {};
}

void Batch::work(std::size_t worker) {
  std::unique_lock lock(mutex_);
  while (next_ < jobs_.size() && !cancelled_) {
    const std::size_t job = next_++;
    Slot& slot = slots_[worker];
    slot.progress.bytes_done = 0;
    slot.progress.bytes_total = 0;
    slot.progress.samples = 0;
    slot.progress.tried.clear();
    slot.job = job;
    slot.begin = Clock::now();
    slot.active = true;
    lock.unlock();
    BatchResult result = run(jobs_[job], slot.progress);
    result.seconds = std::chrono::duration<double>(Clock::now() - slot.begin).count();
    lock.lock();
    results_[job] = std::move(result);
    slot.active = false;
    ended_.push_back(job);
    changed_.notify_one();
  }
  --active_;
  changed_.notify_one();
}

namespace {

Result<ConvertReport> convert_job(const BatchJob& job, const std::string& output,
                                  const ConvertOptions& options, ConvertProgress& progress) {
  return job.session.empty() ? convert(job.input, output, options, &progress)
                             : convert_session(job.session, output, options, &progress);
}

// Converts into a file of its own, which is then named.
Result<ConvertReport> convert_named(const BatchJob& job, const ConvertOptions& options,
                                    SymbolizeOptions naming, ConvertProgress& progress) {
  naming.other_inputs = job.session.empty() ? std::vector{job.input} : job.session;
  naming.force = options.force;
  naming.capture = job.input;
  // Before hours of reading.
  if (const Status allowed = check_named_output(job.output, naming); !allowed) {
    return allowed.error();
  }
  const auto scratch = io::ScratchDirectory::create();
  if (!scratch) {
    return scratch.error();
  }
  Result<ConvertReport> report = convert_job(job, (*scratch)->file(), options, progress);
  if (!report) {
    return report;
  }
  ConvertProgress of_images;
  const Result<SymbolizeReport> named =
      symbolize_file((*scratch)->file(), job.output, naming, &of_images);
  if (!named) {
    Error error = named.error();
    error.part = error.part == kKallsymsPart ? kMainPart : error.part;
    return error;
  }
  report->output_bytes = named->output_bytes;
  if (named->failed_images != 0) {
    report->warnings.push_back("symbol files that could not be read: " +
                               std::to_string(named->failed_images));
  }
  return report;
}

// Converts into a file of its own, which is then merged alone.
Result<ConvertReport> convert_rebased(BatchJob job, const ConvertOptions& options,
                                      const std::optional<SymbolizeOptions>& naming,
                                      ConvertProgress& progress) {
  SymbolizeOptions to_check;
  to_check.other_inputs = job.session.empty() ? std::vector{job.input} : job.session;
  to_check.force = options.force;
  if (const Status allowed = check_named_output(job.output, to_check); !allowed) {
    return allowed.error();
  }
  const auto scratch = io::ScratchDirectory::create();
  if (!scratch) {
    return scratch.error();
  }
  const std::string output = std::exchange(job.output, (*scratch)->file());
  const ConvertOptions whole = options_before_rebasing(options);
  Result<ConvertReport> report = naming ? convert_named(job, whole, *naming, progress)
                                        : convert_job(job, job.output, whole, progress);
  if (!report) {
    return report;
  }
  MergeOptions merging;
  merging.level = options.level;
  merging.memory_limit = options.memory_limit;
  merging.samples = options.samples;
  merging.time_resolution_ns = options.time_resolution_ns;
  merging.encoders = options.encoders;
  merging.force = options.force;
  ConvertProgress of_merge;
  Result<MergeReport> merged = merge({job.output}, output, merging, &of_merge);
  if (!merged) {
    Error error = merged.error();
    error.part = error.part == 0 ? kMainPart : error.part;
    return error;
  }
  report->output_bytes = merged->output_bytes;
  report->statistics = std::move(merged->statistics);
  return report;
}

}  // namespace

BatchResult Batch::run(const BatchJob& job, ConvertProgress& progress) const {
  BatchResult result;
  if (job.problem) {
    result.outcome = BatchOutcome::kFailed;
    result.error = *job.problem;
    return result;
  }
  // Of one job all that its steps read: a conversion, and what names the file that it made.
  const io::FilesRead files_read;
  // Of memory that runs out one job fails; the others may still have enough.
  const Status done = core::guarded([&]() -> Status {
    ConvertOptions options = options_.convert;
    if (!job.member.empty()) {
      options.member = job.member;
    }
    if (options_.skip_existing) {
      // What is wrong with an input is for the conversion to say.
      const std::vector<std::string> inputs =
          job.session.empty() ? std::vector{job.input} : job.session;
      const Result<std::string> content = content_of_inputs(inputs);
      if (content && !content->empty() &&
          std::all_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
            return is_up_to_date(input, job.output, *content, options,
                                 options_.symbolize.has_value(), options_.rebase);
          })) {
        result.outcome = BatchOutcome::kSkipped;
        return {};
      }
    }
    Result<ConvertReport> report =
        options_.rebase      ? convert_rebased(job, options, options_.symbolize, progress)
        : options_.symbolize ? convert_named(job, options, *options_.symbolize, progress)
                             : convert_job(job, job.output, options, progress);
    if (!report) {
      return report.error();
    }
    result.outcome = BatchOutcome::kConverted;
    result.report = std::move(*report);
    return {};
  });
  if (!done) {
    result.outcome = BatchOutcome::kFailed;
    result.error = done.error();
    result.tried = progress.tried;
  }
  return result;
}

std::span<const std::size_t> Batch::wait(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [this] { return reported_ < ended_.size() || active_ == 0; });
  const std::span<const std::size_t> news = std::span(ended_).subspan(reported_);
  reported_ = ended_.size();
  return news;
}

bool Batch::done() const {
  const std::scoped_lock lock(mutex_);
  return active_ == 0 && reported_ == ended_.size();
}

void Batch::cancel() {
  const std::scoped_lock lock(mutex_);
  cancelled_ = true;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    slots_[worker].progress.cancelled = true;
  }
}

std::vector<BatchRunning> Batch::running() const {
  const std::scoped_lock lock(mutex_);
  std::vector<BatchRunning> result;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    const Slot& slot = slots_[worker];
    if (slot.active) {
      result.push_back({slot.job, std::chrono::duration<double>(Clock::now() - slot.begin).count(),
                        slot.progress.bytes_done, slot.progress.bytes_total, slot.progress.samples,
                        slot.progress.stage, slot.progress.samples_written});
    }
  }
  return result;
}

}  // namespace stackpack::app
