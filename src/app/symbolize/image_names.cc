#include "app/symbolize/image_names.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "io/confined_process.h"
#include "symbolize/elf_names.h"
#include "symbolize/name_collector.h"
#include "symbolize/names_codec.h"
#include "symbolize/symbol_request.h"

namespace stackpack::app {

namespace {

using symbolize::FoundFiles;
using symbolize::SearchEnd;

constexpr unsigned kPatienceMilliseconds = 100;

std::string_view reason_of(SearchEnd end) {
  switch (end) {
    case SearchEnd::kFound:
      return "";
    case SearchEnd::kNoFile:
      return "no file";
    case SearchEnd::kOtherBuildId:
      return "the file there is of another build";
    case SearchEnd::kNoBuildId:
      return "the capture has no build id of it; --sysroot DIR makes its path believed";
    case SearchEnd::kNotElf:
      return "not an ELF file";
    case SearchEnd::kNotAFile:
      return "not a regular file";
  }
  return "no file";
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
    case io::ProcessEnd::kAnswerTooLong:
      return "its names take more room than they may";
  }
  return "its symbols cannot be read";
}

/// One image under way.
struct Running {
  std::size_t task = 0;
  FoundFiles files;
  std::unique_ptr<io::ConfinedProcess> process;
};

class ImageNaming {
 public:
  ImageNaming(const std::vector<ImageTask>& tasks, const ImageNamesOptions& options)
      : tasks_(tasks), options_(options), answers_(tasks.size()) {}

  Result<std::vector<ImageAnswer>> run(const std::function<bool(std::size_t)>& done) {
    while (next_ < tasks_.size() || !running_.empty()) {
      while (next_ < tasks_.size() && running_.size() < std::max(1U, options_.jobs)) {
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
      if (!done(finished_)) {
        return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
      }
    }
    return std::move(answers_);
  }

 private:
  Status start(std::size_t number) {
    const ImageTask& task = tasks_[number];
    FoundFiles files = symbolize::find_elf_files({task.path, task.build_id}, options_.places);
    ImageAnswer& answer = answers_[number];
    answer.reason = reason_of(files.end);
    if (files.end != SearchEnd::kFound) {
      ++finished_;
      return {};
    }
    answer.found = files.image ? files.image_path : files.debug_path;
    answer.debug_file = files.image && files.debug ? files.debug_path : "";
    symbolize::ElfFiles elf{files.image.get(), files.debug.get(), files.alternate.get(),
                            files.layout};
    std::vector<int> open;
    for (const int file : {elf.image, elf.debug, elf.alternate}) {
      if (file >= 0) {
        open.push_back(file);
      }
    }
    io::ProcessLimits limits;
    limits.memory_bytes += 2 * files.bytes;  // files are mapped
    symbolize::SymbolRequest request{task.offsets, options_.inlines, {}};
    Result<io::ConfinedProcess> process =
        io::ConfinedProcess::start(open, limits, [&]() -> Result<io::ConfinedProcess::Bytes> {
          symbolize::NameCollector names;
          if (const Status read = symbolize::read_elf_names(elf, request, names); !read) {
            return read.error();
          }
          return symbolize::encode_names(std::move(names).finish());
        });
    if (!process) {
      return process.error();
    }
    running_.push_back(
        {number, std::move(files), std::make_unique<io::ConfinedProcess>(std::move(*process))});
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

  void take(Running& one) {
    ++finished_;
    ImageAnswer& answer = answers_[one.task];
    answer.reason = reason_of(one.process->end());
    answer.failed = one.process->end() != io::ProcessEnd::kDone;
    if (answer.failed) {
      return;
    }
    Result<Names> names = symbolize::decode_names(one.process->answer(), {});
    if (!names) {
      answer.failed = true;
      answer.reason = reason_of(io::ProcessEnd::kFailed);
      return;
    }
    answer.names = std::move(*names);
    if (answer.names.functions.empty()) {
      answer.reason = "no symbols there";
    }
  }

  const std::vector<ImageTask>& tasks_;
  const ImageNamesOptions& options_;
  std::vector<ImageAnswer> answers_;
  std::vector<Running> running_;
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
};

}  // namespace

Result<std::vector<ImageAnswer>> name_images(const std::vector<ImageTask>& tasks,
                                             const ImageNamesOptions& options,
                                             const std::function<bool(std::size_t)>& done) {
  return ImageNaming(tasks, options).run(done);
}

}  // namespace stackpack::app
