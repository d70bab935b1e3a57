#include "io/output_rules.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/directories.h"

namespace stackpack::io {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kPermissions = 0666;

FileIdentity identity_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

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

void add_input(OutputRules& rules, const struct stat& status) {
  rules.inputs.insert(identity_of(status));
  if (S_ISREG(status.st_mode)) {
    rules.mode &= static_cast<std::uint32_t>(status.st_mode) & kPermissions;
  }
}

Status add_files_of(OutputRules& rules, const std::string& directory) {
  const Result<std::vector<std::string>> names = list_directory(directory);
  if (!names) {
    return names.error();
  }
  for (const std::string& name : *names) {
    struct stat status {};
    if (::stat(path_in(directory, name).c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      add_input(rules, status);
    }
  }
  return {};
}

bool is_input(const OutputRules& rules, const struct stat& status) {
  return rules.inputs.contains(identity_of(status));
}

// Whether the file is one that may be replaced without force, judged by its first bytes.
// Errors: kIo: they cannot be read.
Result<bool> may_replace(const std::string& path, const OutputRules& rules) {
  if (rules.replaceable == nullptr) {
    return false;
  }
  constexpr std::string_view kUnreadable =
      "cannot read the file that the output would replace (--force replaces it all the same)";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return cannot_look(kUnreadable, errno, kOutputPart);
  }
  std::array<std::byte, kReplaceableHeadBytes> head{};
  std::size_t size = 0;
  while (size < head.size()) {
    const ssize_t count = ::read(descriptor, head.data() + size, head.size() - size);
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (count == 0) {
      break;
    } else if (errno != EINTR) {
      const int error = errno;
      ::close(descriptor);
      return cannot_look(kUnreadable, error, kOutputPart);
    }
  }
  ::close(descriptor);
  return rules.replaceable(std::span(head).first(size));
}

// The process in `OUT.tmp-PID-N`, when `name` is such a name for the output `out`.
std::optional<pid_t> owner_of(std::string_view name, std::string_view out) {
  constexpr std::string_view kMark = ".tmp-";
  if (!name.starts_with(out) || !name.substr(out.size()).starts_with(kMark)) {
    return std::nullopt;
  }
  name.remove_prefix(out.size() + kMark.size());
  const char* const end = name.data() + name.size();
  pid_t pid = 0;
  const auto [dash, bad_pid] = std::from_chars(name.data(), end, pid);
  if (bad_pid != std::errc{} || pid <= 0 || dash == end || *dash != '-') {
    return std::nullopt;
  }
  unsigned attempt = 0;
  const auto [rest, bad_attempt] = std::from_chars(std::next(dash), end, attempt);
  return bad_attempt == std::errc{} && rest == end ? std::optional(pid) : std::nullopt;
}

// Process ids of another machine that shares the folder mean nothing here: its processes are known
// by their lock.
void remove_if_abandoned(const std::string& path, pid_t owner) {
  if (::kill(owner, 0) == 0 || errno != ESRCH) {
    return;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    return;
  }
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
      status.st_uid == ::geteuid() && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    ::unlink(path.c_str());
  }
  ::close(descriptor);
}

}  // namespace

Status add_inputs(OutputRules& rules, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    struct stat status {};
    const int failed =
        input == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(input.c_str(), &status);
    if (failed != 0) {
      if (is_missing(errno) || input == "-") {
        continue;
      }
      return cannot_look("cannot open", errno, kMainPart);
    }
    if (S_ISDIR(status.st_mode)) {
      if (const Status added = add_files_of(rules, input); !added) {
        return added;
      }
    } else if (S_ISREG(status.st_mode)) {
      add_input(rules, status);
    }
  }
  return {};
}

Status check_output(const std::string& output, const OutputRules& rules) {
  struct stat status {};
  if (output == "-") {
    // `>> input` is the same slip; a descriptor that is closed fails when it is written to.
    return ::fstat(STDOUT_FILENO, &status) == 0 && is_input(rules, status)
               ? Status(refused(kIsInput))
               : Status{};
  }
  if (::stat(output.c_str(), &status) != 0) {
    return is_missing(errno) ? Status{}
                             : Status(cannot_look("cannot open the output", errno, kOutputPart));
  }
  if (!S_ISREG(status.st_mode)) {
    return {};  // written to, never replaced; a directory is refused when it is opened
  }
  if (is_input(rules, status)) {
    return refused(kIsInput);
  }
  if (rules.force || status.st_size == 0) {
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
    struct stat status {};
    if (::stat(path_in(directory, name).c_str(), &status) == 0 && is_input(rules, status)) {
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
      const fs::path path(output);
      const fs::path folder = path.parent_path();
      names[folder.empty() ? "." : folder.string()].insert(path.filename().string());
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
      if (const std::optional<pid_t> owner = owner_of(name, *out)) {
        remove_if_abandoned(path_in(directory, name), *owner);
      }
    }
  }
}

}  // namespace stackpack::io
