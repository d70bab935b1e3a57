#include "app/symbolize/image_names.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/confined_process.h"
#include "symbolize/names_codec.h"

namespace stackpack::app {

namespace {

constexpr unsigned kPatienceMilliseconds = 100;

// What an answer may have for an address: chains of inlined calls, and names, most of which
// addresses share. The largest that were seen have 300 bytes.
constexpr std::uint64_t kAnswerBytesPerAddress = std::uint64_t{8} << 10;
constexpr std::uint64_t kLeastAnswerBytes = std::uint64_t{1} << 20;    // of one image
constexpr std::uint64_t kLeastAnswersBytes = std::uint64_t{64} << 20;  // of all together
constexpr std::uint64_t kMostAnswerBytes = std::uint64_t{1} << 30;

std::uint64_t answer_room(std::uint64_t addresses, std::uint64_t least) {
  return addresses >= kMostAnswerBytes / kAnswerBytesPerAddress
             ? kMostAnswerBytes
             : std::min(kMostAnswerBytes, least + addresses * kAnswerBytesPerAddress);
}

// Rows take more memory than bytes of an answer.
symbolize::SymbolLimits limits_of_answer(std::size_t addresses) {
  constexpr std::size_t kLeastRows = 4096;
  symbolize::SymbolLimits limits;
  if (addresses < limits.rows / limits.inline_depth) {
    limits.rows = std::min(limits.rows, kLeastRows + addresses * limits.inline_depth);
  }
  return limits;
}

std::string_view reason_of(io::ProcessEnd end) {
  switch (end) {
    case io::ProcessEnd::kDone:
      return "";
    case io::ProcessEnd::kFailed:
      return "its symbols cannot be read";
    case io::ProcessEnd::kOutOfMemory:
      return "its symbols take more memory than they may";
    case io::ProcessEnd::kOutOfTime:
      return "its symbols take more time than they may";
    case io::ProcessEnd::kCrashed:
      return "its symbols make their reader crash";
    case io::ProcessEnd::kKilled:
      return "their reader was killed, by somebody or for want of memory";
    case io::ProcessEnd::kAnswerTooLong:
      return "its names take more room than they may";
    case io::ProcessEnd::kNotConfined:
      return "this kernel does not confine their reader; --unconfined reads them all the same";
  }
  return "its symbols cannot be read";
}

void add_losses(const symbolize::ReadLosses& losses, std::string& reason) {
  const auto add = [&reason](std::uint64_t count, std::string_view what) {
    if (count != 0) {
      reason += reason.empty() ? "" : "; ";
      reason += std::to_string(count);
      reason += what;
    }
  };
  add(losses.damaged_parts, " parts of its symbols are damaged");
  add(losses.missing_files, " of its .dwo files cannot be read");
  add(losses.nameless_calls,
      " of its inlined calls are named in a file that several share (dwz), which is not here");
  add(losses.unread_names, " of its names are encoded in a way that this program cannot read");
}

/// One task under way.
struct Running {
  std::size_t task = 0;
  ReadPlan plan;
  std::unique_ptr<io::ConfinedProcess> process;
};

class Naming {
 public:
  Naming(const std::vector<NamingTask>& tasks, const NamingOptions& options)
      : tasks_(tasks),
        options_(options),
        jobs_(std::max(1U, options.jobs)),
        answers_(tasks.size()) {
    std::uint64_t addresses = 0;
    for (const NamingTask& task : tasks) {
      addresses += task.addresses.size();
    }
    room_ = answer_room(addresses, kLeastAnswersBytes);
  }

  Result<std::vector<NamingAnswer>> run(const std::function<bool(std::size_t)>& done) {
    while (next_ < tasks_.size() || !running_.empty()) {
      while (next_ < tasks_.size() && running_.size() < jobs_) {
        if (const Status started = start(next_++); !started) {
          return started.error();
        }
      }
      wait();
      for (std::size_t i = 0; i < running_.size();) {
        if (running_[i].process->proceed()) {
          take(running_[i]);
          running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
      keep_to_room();
      if (!done(finished_)) {
        return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
      }
    }
    return std::move(answers_);
  }

 private:
  Status start(std::size_t number) {
    const NamingTask& task = tasks_[number];
    ReadPlan plan = task.plan();
    NamingAnswer& answer = answers_[number];
    answer.found = plan.found;
    answer.debug_file = plan.debug_file;
    answer.reason = plan.reason;
    answer.replaced = plan.replaced;
    if (!plan.read) {
      ++finished_;
      return {};
    }
    std::vector<int> open;
    for (const io::Descriptor& file : plan.files) {
      open.push_back(file.get());
    }
    io::ProcessLimits limits;
    limits.memory_bytes += 2 * plan.bytes;  // files are mapped
    limits.answer_bytes = answer_room(task.addresses.size(), kLeastAnswerBytes);
    limits.new_files = plan.new_files;
    limits.without_filter = options_.unconfined;
    const symbolize::SymbolRequest request{task.addresses, options_.inlines, {}, options_.lines};
    Result<io::ConfinedProcess> process = io::ConfinedProcess::start(
        open, limits,
        [&]() -> Result<io::ConfinedProcess::Bytes> {
          symbolize::NameCollector names;
          if (const Status read = plan.read(request, names); !read) {
            return read.error();
          }
          const symbolize::ReadLosses losses = names.losses();
          return symbolize::encode_names({std::move(names).finish(), losses});
        },
        plan.open);
    if (!process) {
      return process.error();
    }
    running_.push_back(
        {number, std::move(plan), std::make_unique<io::ConfinedProcess>(std::move(*process))});
    return {};
  }

  void wait() {
    std::vector<io::ConfinedProcess*> processes;
    for (const Running& one : running_) {
      processes.push_back(one.process.get());
    }
    if (!processes.empty()) {
      io::ConfinedProcess::wait_for_any(processes, kPatienceMilliseconds);
    }
  }

  // All answers together, those under way among them, have no more bytes than what was asked for
  // may take: else the reader with the longest one is ended.
  void keep_to_room() {
    const auto size_of = [](const Running& one) { return one.process->answer().size(); };
    std::uint64_t bytes = kept_;
    for (const Running& one : running_) {
      bytes += size_of(one);
    }
    if (bytes > room_ && !running_.empty()) {
      const auto longest = std::max_element(
          running_.begin(), running_.end(),
          [&](const Running& a, const Running& b) { return size_of(a) < size_of(b); });
      longest->process->stop(io::ProcessEnd::kAnswerTooLong);
    }
  }

  void take(Running& one) {
    ++finished_;
    NamingAnswer& answer = answers_[one.task];
    answer.reason = one.plan.reason;
    const std::size_t bytes = one.process->answer().size();
    io::ProcessEnd end = one.process->end();
    if (end == io::ProcessEnd::kDone && bytes > room_ - kept_) {
      end = io::ProcessEnd::kAnswerTooLong;
    }
    answer.failed = end != io::ProcessEnd::kDone;
    if (answer.failed) {
      answer.reason = reason_of(end);
      return;
    }
    kept_ += bytes;
    Result<symbolize::FoundNames> found = symbolize::decode_names(
        one.process->answer(), limits_of_answer(tasks_[one.task].addresses.size()));
    if (!found) {
      answer.failed = true;
      answer.reason = reason_of(io::ProcessEnd::kFailed);
      return;
    }
    answer.names = std::move(found->names);
    answer.losses = found->losses;
    if (answer.losses.other_builds != 0) {
      answer.reason = "the file there is of another build";
      answer.replaced = true;
    } else if (answer.losses.kernel_not_placed != 0) {
      answer.reason = "it lacks the symbol by which the recorder noted where the kernel was";
    } else if (answer.names.functions.empty()) {
      answer.reason = answer.losses.functions_there != 0
                          ? "none of its functions has one of these addresses"
                          : "no symbols there";
    }
    add_losses(answer.losses, answer.reason);
  }

  const std::vector<NamingTask>& tasks_;
  NamingOptions options_;
  unsigned jobs_;
  std::vector<NamingAnswer> answers_;
  std::vector<Running> running_;
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
  std::uint64_t room_ = 0;  // bytes of all answers
  std::uint64_t kept_ = 0;  // of those that ended; at most room_
};

}  // namespace

Result<std::vector<NamingAnswer>> name_all(const std::vector<NamingTask>& tasks,
                                           const NamingOptions& options,
                                           const std::function<bool(std::size_t)>& done) {
  return Naming(tasks, options).run(done);
}

}  // namespace stackpack::app
