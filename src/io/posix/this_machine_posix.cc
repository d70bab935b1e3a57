#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

}  // namespace

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(static_cast<const char*>(names.nodename))
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

}  // namespace stackpack::io
