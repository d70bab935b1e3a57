#include "io/output_rules.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/directories.h"
#include "io/file_names.h"
#include "io/utf8_path.h"

namespace stackpack::io {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kPermissions = 0666;

std::string path_in(const std::string& directory, const std::string& name) {
  std::string path = directory;
  path += '/';
  path += name;
  return path;
}

bool is_missing(int error) {
  return error == ENOENT || error == ENOTDIR;
}

Error cannot_look(std::string_view what, int error, std::uint32_t part) {
  return {ErrorCode::kIo, kNoOffset, what, error, part};
}

Error refused(std::string_view why) {
  return {ErrorCode::kUsage, kNoOffset, why, 0, kOutputPart};
}

constexpr std::string_view kIsInput = "is the input itself; give the output another name";

void add_input(OutputRules& rules, const FileStatus& status) {
  rules.inputs.insert(status.identity);
  rules.mode &= status.permissions & kPermissions;
}

Status add_files_of(OutputRules& rules, const std::string& directory) {
  const Result<std::vector<std::string>> names = list_directory(directory);
  if (!names) {
    return names.error();
  }
  for (const std::string& name : *names) {
    FileStatus status;
    if (look_at(path_in(directory, name), status) && status.kind == FileKind::kRegular) {
      add_input(rules, status);
    }
  }
  return {};
}

bool is_input(const OutputRules& rules, const FileStatus& status) {
  return rules.inputs.contains(status.identity);
}

// Whether the file is one that may be replaced without force, judged by its first bytes.
// Errors: kIo: they cannot be read.
Result<bool> may_replace(const std::string& path, const OutputRules& rules) {
  if (rules.replaceable == nullptr) {
    return false;
  }
  constexpr std::string_view kUnreadable =
      "cannot read the file that the output would replace (--force replaces it all the same)";
  const Descriptor file = open_to_read(path, Fifo::kGoOn);
  if (!file) {
    return cannot_look(kUnreadable, errno, kOutputPart);
  }
  std::array<std::byte, kReplaceableHeadBytes> head{};
  std::size_t size = 0;
  while (size < head.size()) {
    const std::int64_t count = read_some(file.get(), std::span(head).subspan(size));
    if (count < 0) {
      return cannot_look(kUnreadable, errno, kOutputPart);
    }
    if (count == 0) {
      break;
    }
    size += static_cast<std::size_t>(count);
  }
  return rules.replaceable(std::span(head).first(size));
}

// The process in `OUT.tmp-PID-N`, when `name` is such a name for the output `out`.
std::optional<std::uint32_t> owner_of(std::string_view name, std::string_view out) {
  constexpr std::string_view kMark = ".tmp-";
  if (!name.starts_with(out) || !name.substr(out.size()).starts_with(kMark)) {
    return std::nullopt;
  }
  name.remove_prefix(out.size() + kMark.size());
  const char* const end = name.data() + name.size();
  std::uint32_t pid = 0;
  const auto [dash, bad_pid] = std::from_chars(name.data(), end, pid);
  if (bad_pid != std::errc{} || pid == 0 || dash == end || *dash != '-') {
    return std::nullopt;
  }
  unsigned attempt = 0;
  const auto [rest, bad_attempt] = std::from_chars(std::next(dash), end, attempt);
  return bad_attempt == std::errc{} && rest == end ? std::optional(pid) : std::nullopt;
}

}  // namespace

Status add_inputs(OutputRules& rules, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    FileStatus status;
    if (!(input == "-" ? look_at(kInputDescriptor, status) : look_at(input, status))) {
      if (is_missing(errno) || input == "-") {
        continue;
      }
      return cannot_look("cannot open", errno, kMainPart);
    }
    if (status.kind == FileKind::kDirectory) {
      if (const Status added = add_files_of(rules, input); !added) {
        return added;
      }
    } else if (status.kind == FileKind::kRegular) {
      add_input(rules, status);
    }
  }
  return {};
}

Status check_output(const std::string& output, const OutputRules& rules) {
  FileStatus status;
  if (output == "-") {
    // `>> input` is the same slip; a descriptor that is closed fails when it is written to.
    return look_at(kOutputDescriptor, status) && is_input(rules, status) ? Status(refused(kIsInput))
                                                                         : Status{};
  }
  // Looking at what the system takes for a device may open it.
  if (const std::string_view problem = problem_with_path(output); !problem.empty()) {
    return Error{ErrorCode::kIo, kNoOffset, problem, 0, kOutputPart};
  }
  if (!look_at(output, status)) {
    return is_missing(errno) ? Status{}
                             : Status(cannot_look("cannot open the output", errno, kOutputPart));
  }
  if (status.kind != FileKind::kRegular) {
    return {};  // written to, never replaced; a directory is refused when it is opened
  }
  if (is_input(rules, status)) {
    return refused(kIsInput);
  }
  if (rules.force || status.bytes == 0) {
    return {};
  }
  const Result<bool> allowed = may_replace(output, rules);
  if (!allowed) {
    return allowed.error();
  }
  return *allowed ? Status{} : Status(refused(rules.refusal));
}

Status check_output_directory(const std::string& directory, const OutputRules& rules) {
  const Result<std::vector<std::string>> names = list_directory(directory);
  if (!names) {
    // Not there, or no directory: making it says so.
    return names.error().code == ErrorCode::kResource ? Status(names.error()) : Status{};
  }
  for (const std::string& name : *names) {
    FileStatus status;
    if (look_at(path_in(directory, name), status) && is_input(rules, status)) {
      return refused("holds the input; give the output another name");
    }
  }
  return names->empty() || rules.force
             ? Status{}
             : refused("holds files; --force writes to it and replaces those of the same names");
}

void remove_leftovers(std::span<const std::string> outputs) {
  std::map<std::string, std::set<std::string, std::less<>>> names;
  for (const std::string& output : outputs) {
    if (output != "-") {
      const fs::path path = path_of(output);
      const fs::path folder = path.parent_path();
      names[folder.empty() ? "." : text_of(folder)].insert(text_of(path.filename()));
    }
  }
  for (const auto& [directory, wanted] : names) {
    const Result<std::vector<std::string>> listed = list_directory(directory);
    if (!listed) {
      continue;
    }
    for (const std::string& name : *listed) {
      const std::size_t mark = name.rfind(".tmp-");
      const auto out = mark == std::string::npos
                           ? wanted.end()
                           : wanted.find(std::string_view(name).substr(0, mark));
      if (out == wanted.end()) {
        continue;
      }
      if (const std::optional<std::uint32_t> owner = owner_of(name, *out)) {
        remove_if_abandoned(path_in(directory, name), *owner);
      }
    }
  }
}

}  // namespace stackpack::io
