#include "app/batch/batch_plan.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "app/batch/capture_name.h"
#include "app/convert/archive_members.h"
#include "app/convert/capture_probe.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "io/file_names.h"
#include "io/output_rules.h"
#include "io/utf8_path.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace fs = std::filesystem;

namespace {

// What cannot be read is passed over like what is no capture.
bool is_capture(const std::string& path) {
  const Result<bool> probed = looks_like_capture(path);
  return probed && *probed;
}

constexpr std::size_t kListBlockBytes = std::size_t{1} << 16;

// The path without anything that would lead out of the output folder: a/../b, /a and ./a keep only
// their named parts.
fs::path named_parts(const fs::path& path) {
  fs::path result;
  for (const fs::path& part : path.relative_path().lexically_normal()) {
    if (!part.empty() && part != ".." && part != "." && part != "/") {
      result /= part;
    }
  }
  return result;
}

// What lies below a directory, each by path.
struct FolderContent {
  std::vector<fs::path> captures;  // by content, or by name
  std::vector<fs::path> others;
  std::vector<std::pair<fs::path, int>> unreadable;  // folders, with the system's reason
};

bool is_perf_directory(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path / "data", failed) &&
         (is_capture(io::text_of(path)) || is_capture_name(io::text_of(path.filename())));
}

// A packed file keeps the name of its capture, so its content counts, not its name.
bool is_captured(const fs::path& file) {
  return is_capture(io::text_of(file)) ||
         (is_capture_name(io::text_of(file.filename())) && !looks_like_packed(io::text_of(file)));
}

// A directory of `perf record --threads` is one capture. Links to directories are not followed.
void look_below(const fs::path& folder, FolderContent& content) {
  const Result<std::vector<std::string>> names = io::list_directory(io::text_of(folder));
  if (!names) {
    content.unreadable.emplace_back(folder, names.error().os_error);
    return;
  }
  for (const std::string& name : *names) {
    const fs::path path = folder / io::path_of(name);
    std::error_code no_type;
    if (fs::is_directory(path, no_type)) {
      if (is_perf_directory(path)) {
        content.captures.push_back(path);
      } else if (!fs::is_symlink(path, no_type)) {
        look_below(path, content);
      }
    } else if (fs::is_regular_file(path, no_type)) {
      (is_captured(path) ? content.captures : content.others).push_back(path);
    } else if (!fs::exists(path, no_type) && is_capture_name(io::text_of(path.filename()))) {
      content.captures.push_back(path);  // a link to nothing
    }
  }
}

FolderContent content_below(const fs::path& folder) {
  FolderContent content;
  look_below(folder, content);
  std::sort(content.captures.begin(), content.captures.end());
  std::sort(content.others.begin(), content.others.end());
  std::sort(content.unreadable.begin(), content.unreadable.end());
  return content;
}

// Bad input, not a failure of ours: an archive may hold any name.
constexpr Error kNameTooLong{ErrorCode::kUnsupported, kNoOffset,
                             "the name is too long for an output below --out-dir"};

// What is wrong with an output's name; a temporary name is longer by what kReserve leaves.
std::optional<Error> problem_with_name(const fs::path& output) {
  constexpr std::size_t kMostName = 255;
  constexpr std::size_t kMostPath = 4095;
  constexpr std::size_t kReserve = 24;
  if (const std::string_view problem = io::problem_with_path(io::text_of(output));
      !problem.empty()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, problem};
  }
  bool fits = output.native().size() + kReserve <= kMostPath &&
              output.filename().native().size() + kReserve <= kMostName;
  for (const fs::path& part : output) {
    fits = fits && part.native().size() <= kMostName;
  }
  return fits ? std::nullopt : std::optional(kNameTooLong);
}

class Planner {
 public:
  explicit Planner(const BatchRequest& request) : request_(request) {}

  BatchPlan plan() {
    for (const std::string& input : request_.inputs) {
      std::error_code failed;
      const fs::path path = io::path_of(input);
      if (request_.recursive && fs::is_directory(path, failed) && !is_perf_directory(path)) {
        add_directory(path);
      } else {
        add(path, request_.naming == OutputNaming::kPath ? named_parts(path) : base_name(path));
      }
    }
    keep_inputs();
    return std::move(plan_);
  }

 private:
  // The last part of a path, also of `dir/`, `.` and `-`.
  static fs::path base_name(const fs::path& path) {
    const fs::path parts = named_parts(path);
    return parts.empty() ? fs::path("capture") : parts.filename();
  }

  void add_directory(const fs::path& folder) {
    const FolderContent content = content_below(folder);
    const auto name_of = [&](const fs::path& path) {
      return request_.naming == OutputNaming::kPath ? named_parts(path)
                                                    : path.lexically_relative(folder);
    };
    for (const fs::path& path : content.captures) {
      add(path, name_of(path));
    }
    for (const auto& [path, error] : content.unreadable) {
      plan_.jobs.push_back({io::text_of(path), "", output_of(name_of(path)),
                            Error{ErrorCode::kIo, kNoOffset, "cannot list the folder", error}});
    }
    const std::size_t others = content.others.size();
    if (others > 0) {
      plan_.notes.push_back(io::text_of(folder) + ": " + std::to_string(others) +
                            (others == 1 ? " file is not a capture" : " files are not captures"));
      for (const fs::path& path : content.others) {
        plan_.others.push_back(io::text_of(path));
      }
    }
    if (content.captures.empty() && content.unreadable.empty()) {
      plan_.notes.push_back(io::text_of(folder) + ": holds no capture");
    }
  }

  // An archive of several captures becomes a folder of outputs, unless it is one recording.
  void add(const fs::path& input, const fs::path& name) {
    std::error_code failed;
    const std::string identity =
        input == "-" ? "-" : io::text_of(fs::absolute(input).lexically_normal());
    if (!seen_.insert(identity).second) {
      plan_.notes.push_back(io::text_of(input) + ": given more than once, converted once");
      return;
    }
    const Result<std::vector<std::string>> members = fs::is_regular_file(input, failed)
                                                         ? captures_in_archive(io::text_of(input))
                                                         : std::vector<std::string>{};
    if (!members || members->size() < 2 || is_session_archive(io::text_of(input))) {
      add_job(
          {io::text_of(input), "", output_of(name)});  // a bad archive fails when it is converted
      return;
    }
    for (const std::string& member : *members) {
      add_job({io::text_of(input), member, output_of(name / named_parts(io::path_of(member)))});
    }
  }

  [[nodiscard]] std::string output_of(fs::path name) const {
    name += ".spk";
    return io::text_of(io::path_of(request_.out_dir) / name);
  }

  void add_job(BatchJob job) {
    const std::string input = job.member.empty() ? job.input : job.input + ':' + job.member;
    job.problem = problem_with_name(io::path_of(job.output));
    const auto [taken, is_new] =
        by_output_.emplace(io::compared_path(job.output), Claim{job.input, input});
    if (!is_new && taken->second.archive == job.input) {
      // An archive is free to hold `a` and `x/../a`: it is bad, and the other inputs are not.
      job.problem = Error{ErrorCode::kUnsupported, kNoOffset,
                          "zip: another member has the same name, after .. and roots are dropped"};
    } else if (!is_new) {
      plan_.problems.push_back(taken->second.name + " and " + input + " would both become " +
                               job.output + "; use --names path");
      return;
    }
    plan_.jobs.push_back(std::move(job));
  }

  // No output may be an input, be it under another name: it would be replaced before it is read.
  void keep_inputs() {
    io::OutputRules rules;
    std::set<std::string> inputs;
    for (const BatchJob& job : plan_.jobs) {
      if (inputs.insert(job.input).second) {
        // What cannot be looked at fails when it is opened.
        static_cast<void>(io::add_inputs(rules, {&job.input, 1}));
      }
    }
    for (const BatchJob& job : plan_.jobs) {
      const Status allowed = io::check_output(job.output, rules);
      if (!allowed && allowed.error().code == ErrorCode::kUsage) {
        plan_.problems.push_back(job.output +
                                 ": is one of the inputs, and would be the output of " + job.input +
                                 "; use another --out-dir");
      }
    }
  }

  struct Claim {
    std::string archive;  // the path of the input
    std::string name;     // with the member
  };

  const BatchRequest& request_;
  BatchPlan plan_;
  std::set<std::string> seen_;
  std::map<std::string, Claim> by_output_;
};

}  // namespace

BatchPlan plan_batch(const BatchRequest& request) {
  return Planner(request).plan();
}

Status create_output_directories(const std::string& out_dir, BatchPlan& plan) {
  if (const Status made = io::make_directories(out_dir); !made) {
    return made;
  }
  std::map<fs::path, Status> folders;
  for (BatchJob& job : plan.jobs) {
    if (job.problem) {
      continue;
    }
    const fs::path folder = io::path_of(job.output).parent_path();
    auto known = folders.find(folder);
    if (known == folders.end()) {
      known = folders.emplace(folder, io::make_directories(io::text_of(folder))).first;
    }
    if (!known->second) {
      job.problem = known->second.error();
      job.problem->part = kOutputPart;
      if (job.problem->os_error == ENAMETOOLONG) {
        job.problem = kNameTooLong;
      }
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
