#include "io/output_rules.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/directories.h"
#include "io/file_names.h"
#include "io/files_read.h"
#include "io/temporary_name.h"
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
constexpr std::string_view kIsRead = "is read for this output; give the output another name";

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

// Why nothing may be written to a file: it is read. Empty: it is not.
std::string_view reason_to_keep(const OutputRules& rules, const FileStatus& status) {
  return rules.inputs.contains(status.identity) ? kIsInput
         : FilesRead::contains(status.identity) ? kIsRead
                                                : std::string_view();
}

// Whether the file is one that may be replaced without force, judged by its first bytes.
// Errors: kIo: they cannot be read.
Result<bool> may_replace(const std::string& path, const OutputRules& rules) {
  if (rules.replaceable == nullptr) {
    return false;
  }
  constexpr std::string_view kUnreadable =
      "cannot read the file that the output would replace (option force replaces it all the same)";
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
    const std::string_view keep =
        look_at(kOutputDescriptor, status) ? reason_to_keep(rules, status) : std::string_view();
    return keep.empty() ? Status{} : Status(refused(keep));
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
  if (const std::string_view keep = reason_to_keep(rules, status); !keep.empty()) {
    return refused(keep);
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
    if (look_at(path_in(directory, name), status) && !reason_to_keep(rules, status).empty()) {
      return refused("holds the input; give the output another name");
    }
  }
  return names->empty() || rules.force
             ? Status{}
             : refused(
                   "holds files; option force writes to it and replaces those of the same names");
}

void remove_leftovers(std::span<const std::string> outputs) {
  std::map<std::string, std::set<std::string, std::less<>>> names;
  for (const std::string& output : outputs) {
    if (output != "-") {
      const fs::path path = path_of(output);
      const fs::path folder = path.parent_path();
      names[folder.empty() ? "." : text_of(folder)].insert(
          std::string(temporary_stem(text_of(path.filename()))));
    }
  }
  for (const auto& [directory, wanted] : names) {
    const Result<std::vector<std::string>> listed = list_directory(directory);
    if (!listed) {
      continue;
    }
    for (const std::string& name : *listed) {
      const std::optional<TemporaryOwner> owner = owner_of_temporary(name);
      if (!owner || wanted.count(owner->stem) == 0) {
        continue;
      }
      const std::string path = path_in(directory, name);
      FileStatus status;
      if (look_at(path, status) && !FilesRead::contains(status.identity)) {
        remove_if_abandoned(path, owner->pid);
      }
    }
  }
}

}  // namespace stackpack::io
