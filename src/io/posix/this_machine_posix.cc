#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "io/system_file.h"
#include "io/this_machine.h"

namespace stackpack::io {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

constexpr std::size_t kMostText = std::size_t{1} << 20;  // of a file of the system
constexpr int kMostGroups = 256;                         // one above the other

// The content of a file of the system, whose size is not known before; empty when there is none.
std::string text_of_file(const std::string& path) {
  std::string text;
  const Descriptor file = open_to_read(path, Fifo::kGoOn);
  std::array<char, 4096> block;
  while (file && text.size() < kMostText) {
    const std::int64_t count = read_some(file.get(), std::as_writable_bytes(std::span(block)));
    if (count <= 0) {
      break;
    }
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// Takes what is in front of `end` from `text`, and `end` itself; all of it where there is none.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    fields.push_back(take_until(line, ' '));
  }
  return fields;
}

bool is_in_list(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (take_until(list, ',') == name) {
      return true;
    }
  }
  return false;
}

// A limit as the kernel writes it; "max" is none.
std::uint64_t limit_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && value != 0 ? value : kNoMemoryLimit;
}

// Version 1 says the least limit of all groups above, those that cannot be seen from here too.
std::uint64_t hierarchical_limit(std::string_view statistics) {
  constexpr std::string_view kName = "hierarchical_memory_limit ";
  while (!statistics.empty()) {
    const std::string_view line = take_until(statistics, '\n');
    if (line.starts_with(kName)) {
      return limit_in(line.substr(kName.size()));
    }
  }
  return kNoMemoryLimit;
}

// Where a hierarchy of control groups is mounted, and which of its groups is there.
struct GroupMount {
  std::string_view place;
  std::string_view root;
};

// The mount of the hierarchy with memory limits: `type` is cgroup or cgroup2. Empty: none.
GroupMount find_mount(std::string_view mounts, std::string_view type) {
  while (!mounts.empty()) {
    // 36 35 98:0 ROOT PLACE OPTIONS [optional fields] - TYPE SOURCE OPTIONS
    const std::vector<std::string_view> fields = fields_of(take_until(mounts, '\n'));
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 7 || fields.end() - dash < 4 || dash[1] != type) {
      continue;
    }
    if (type == "cgroup2" || is_in_list(dash[3], "memory")) {
      return {fields[4], fields[3]};
    }
  }
  return {};
}

// The least limit of `group`, as /proc/self/cgroup names it, and of those above it.
std::uint64_t limit_of_group(const std::string& root, const GroupMount& mount,
                             std::string_view group, const std::string& file) {
  if (mount.place.empty()) {
    return kNoMemoryLimit;
  }
  // In a container the mount may be of a part of the hierarchy, the name one of the whole.
  if (mount.root != "/" && group.starts_with(mount.root)) {
    group.remove_prefix(mount.root.size());
  }
  std::string path(group);
  std::uint64_t least = kNoMemoryLimit;
  for (int level = 0; level < kMostGroups; ++level) {
    while (path.ends_with('/')) {
      path.pop_back();
    }
    std::string folder = root;
    folder.append(mount.place).append(path).append("/");
    least = std::min({least, limit_in(text_of_file(folder + file)),
                      hierarchical_limit(text_of_file(folder + "memory.stat"))});
    if (path.empty()) {
      break;
    }
    path.resize(std::min(path.rfind('/'), path.size()));
    if (path.find('/') == std::string::npos) {
      path.clear();
    }
  }
  return least;
}

}  // namespace

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(static_cast<const char*>(names.nodename))
                              : std::string();
}

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(static_cast<const char*>(names.release))
                              : std::string();
}

std::vector<std::byte> running_kernel_notes() {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  const Descriptor file = open_to_read("/sys/kernel/notes", Fifo::kGoOn);
  std::vector<std::byte> notes(file ? kMostBytes : 0);
  const std::int64_t read = file ? read_some(file.get(), notes) : 0;
  notes.resize(static_cast<std::size_t>(std::max<std::int64_t>(read, 0)));
  return notes;
}

std::optional<std::int64_t> wall_offset_of_monotonic() {
  return read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
}

std::uint64_t monotonic_now() {
  return static_cast<std::uint64_t>(read_clock(CLOCK_MONOTONIC));
}

bool is_of_root_or_us(int descriptor) {
  struct stat found {};
  return ::fstat(descriptor, &found) == 0 && (found.st_uid == 0 || found.st_uid == ::geteuid());
}

std::optional<std::int64_t> made_at(int descriptor) {
  struct statx found {};
  // musl has a function for it since version 1.2.5 only.
  if (::syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_BTIME,  // NOLINT(*-vararg)
                &found) != 0 ||
      (found.stx_mask & STATX_BTIME) == 0) {
    return std::nullopt;
  }
  return found.stx_btime.tv_sec * kNsPerSecond + found.stx_btime.tv_nsec;
}

std::optional<FileOnDisk> file_on_disk(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) {
    return std::nullopt;
  }
  FileOnDisk on_disk;
  on_disk.file = {static_cast<std::uint32_t>(major(found.st_dev)),
                  static_cast<std::uint32_t>(minor(found.st_dev)), found.st_ino, 0};
  on_disk.changed_ns =
      std::max(std::int64_t{found.st_mtim.tv_sec} * kNsPerSecond + found.st_mtim.tv_nsec,
               std::int64_t{found.st_ctim.tv_sec} * kNsPerSecond + found.st_ctim.tv_nsec);
  std::uint64_t generation =
      0;  // the call is declared for a long, of which the kernel writes an int
  if (::syscall(SYS_ioctl, descriptor, FS_IOC_GETVERSION, &generation) == 0) {  // NOLINT(*-vararg)
    on_disk.file.generation = generation & ~std::uint32_t{0};
  }
  return on_disk;
}

std::optional<std::uint32_t> pid_inside(std::uint32_t pid) {
  constexpr std::string_view kKey = "NSpid:";
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  if (!status) {
    return std::nullopt;
  }
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kKey)) {
      const std::size_t at = line.find_last_not_of("0123456789") + 1;
      std::uint32_t inside = 0;
      const auto [end, failure] =
          std::from_chars(line.data() + at, line.data() + line.size(), inside);
      return failure == std::errc{} ? inside : pid;
    }
  }
  return pid;
}

std::uint64_t control_group_limit(const std::string& root) {
  const std::string mounts = text_of_file(root + "/proc/self/mountinfo");
  const std::string groups = text_of_file(root + "/proc/self/cgroup");
  std::string_view left = groups;
  std::uint64_t least = kNoMemoryLimit;
  while (!left.empty()) {
    std::string_view group = take_until(left, '\n');  // NUMBER:CONTROLLERS:GROUP
    const std::string_view number = take_until(group, ':');
    const std::string_view controllers = take_until(group, ':');
    if (number == "0" && controllers.empty()) {
      least =
          std::min(least, limit_of_group(root, find_mount(mounts, "cgroup2"), group, "memory.max"));
    } else if (is_in_list(controllers, "memory")) {
      least = std::min(least, limit_of_group(root, find_mount(mounts, "cgroup"), group,
                                             "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t usable_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  const std::uint64_t machine =
      pages > 0 && page_bytes > 0
          ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes)
          : kNoMemoryLimit;
  return std::min(machine, control_group_limit(""));
}

}  // namespace stackpack::io
