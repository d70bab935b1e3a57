#include "app/batch/batch_plan.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "app/convert/archive_members.h"
#include "app/convert/capture_probe.h"
#include "io/byte_source.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kListBlockBytes = std::size_t{1} << 16;

// The path without anything that would lead out of the output folder: a/../b, /a and ./a keep only
// their named parts.
fs::path named_parts(const fs::path& path) {
  fs::path result;
  for (const fs::path& part : path.lexically_normal()) {
    if (!part.empty() && part != ".." && part != "." && part != "/") {
      result /= part;
    }
  }
  return result;
}

// The captures below a directory, by path. A directory of `perf record --threads` is one capture.
std::vector<fs::path> captures_below(const fs::path& folder, std::size_t& others,
                                     std::vector<std::string>& problems) {
  std::vector<fs::path> found;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  for (const fs::recursive_directory_iterator end; !failed && entry != end;
       entry.increment(failed)) {
    const fs::path& path = entry->path();
    std::error_code no_type;
    if (entry->is_directory(no_type)) {
      if (fs::exists(path / "data", no_type) && looks_like_capture(path)) {
        found.push_back(path);
        entry.disable_recursion_pending();
      }
    } else if (entry->is_regular_file(no_type)) {
      if (looks_like_capture(path)) {
        found.push_back(path);
      } else {
        ++others;
      }
    }
  }
  if (failed) {
    problems.push_back(folder.string() + ": " + failed.message());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Planner {
 public:
  explicit Planner(const BatchRequest& request) : request_(request) {}

  BatchPlan plan() {
    for (const std::string& input : request_.inputs) {
      std::error_code failed;
      const fs::path path(input);
      if (request_.recursive && fs::is_directory(path, failed) &&
          !(fs::exists(path / "data", failed) && looks_like_capture(path))) {
        add_directory(path);
      } else {
        add(path, request_.naming == OutputNaming::kPath ? named_parts(path) : base_name(path));
      }
    }
    return std::move(plan_);
  }

 private:
  // The last part of a path, also of `dir/`, `.` and `-`.
  static fs::path base_name(const fs::path& path) {
    const fs::path parts = named_parts(path);
    return parts.empty() ? fs::path("capture") : parts.filename();
  }

  void add_directory(const fs::path& folder) {
    std::size_t others = 0;
    for (const fs::path& path : captures_below(folder, others, plan_.problems)) {
      const fs::path below = path.lexically_relative(folder);
      add(path, request_.naming == OutputNaming::kPath ? named_parts(path) : below);
    }
    if (others > 0) {
      plan_.notes.push_back(folder.string() + ": " + std::to_string(others) +
                            (others == 1 ? " file is no capture" : " files are no captures"));
    }
  }

  // An archive of several captures becomes a folder of outputs, unless it is one recording.
  void add(const fs::path& input, const fs::path& name) {
    std::error_code failed;
    const std::string identity = input == "-" ? "-" : fs::absolute(input).lexically_normal();
    if (!seen_.insert(identity).second) {
      plan_.notes.push_back(input.string() + ": given more than once, converted once");
      return;
    }
    const Result<std::vector<std::string>> members = fs::is_regular_file(input, failed)
                                                         ? captures_in_archive(input.string())
                                                         : std::vector<std::string>{};
    if (!members || members->size() < 2 || is_session_archive(input.string())) {
      add_job({input.string(), "", output_of(name)});  // a bad archive is the conversion's to tell
      return;
    }
    for (const std::string& member : *members) {
      add_job({input.string(), member, output_of(name / named_parts(member))});
    }
  }

  [[nodiscard]] std::string output_of(fs::path name) const {
    name += ".spk";
    return (fs::path(request_.out_dir) / name).string();
  }

  void add_job(BatchJob job) {
    const std::string input = job.member.empty() ? job.input : job.input + ':' + job.member;
    const auto [taken, is_new] = by_output_.emplace(job.output, input);
    if (!is_new) {
      plan_.problems.push_back(taken->second + " and " + input + " would both become " +
                               job.output + "; use --names path");
      return;
    }
    plan_.jobs.push_back(std::move(job));
  }

  const BatchRequest& request_;
  BatchPlan plan_;
  std::set<std::string> seen_;
  std::map<std::string, std::string> by_output_;
};

}  // namespace

BatchPlan plan_batch(const BatchRequest& request) {
  return Planner(request).plan();
}

Status create_output_directories(const BatchPlan& plan) {
  std::set<fs::path> folders;
  for (const BatchJob& job : plan.jobs) {
    folders.insert(fs::path(job.output).parent_path());
  }
  for (const fs::path& folder : folders) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
      return Error{ErrorCode::kIo, kNoOffset, "cannot create the output directory", failed.value()};
    }
  }
  return {};
}

Result<std::vector<std::string>> read_file_list(const std::string& path) {
  std::unique_ptr<io::ByteSource> source;
  if (path == "-") {
    source = io::source_of_standard_input();
  } else {
    Result<std::unique_ptr<io::ByteSource>> opened = io::open_source(path);
    if (!opened) {
      return opened.error();
    }
    source = std::move(*opened);
  }
  std::vector<std::string> lines;
  std::string line;
  std::vector<std::byte> block(kListBlockBytes);
  const auto end_line = [&] {
    if (!line.empty()) {
      lines.push_back(std::exchange(line, {}));
    }
  };
  while (true) {
    const Result<std::size_t> count = source->read(block);
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      end_line();
      return lines;
    }
    for (const std::byte byte : std::span(block).first(*count)) {
      const char letter = static_cast<char>(byte);
      if (letter == '\n' || letter == '\0') {
        end_line();
      } else {
        line.push_back(letter);
      }
    }
  }
}

}  // namespace stackpack::app
