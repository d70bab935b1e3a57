#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/memory_file.h"

namespace stackpack::io {

namespace {

struct MemoryRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Where this process has it; empty: nowhere.
MemoryRange place_of_vdso() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    MemoryRange range;
    if (line.ends_with("[vdso]") &&
        std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &range.begin, &range.end) == 2) {
      return range;
    }
  }
  return {};
}

}  // namespace

Result<Descriptor> make_memory_file(std::span<const std::byte> bytes) {
  Descriptor file(::memfd_create("stackpack", MFD_CLOEXEC));
  if (!file) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot make a file in memory", errno};
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written =
        ::pwrite(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      return Error{ErrorCode::kIo, kNoOffset, "cannot write a file in memory", errno};
    }
  }
  return file;
}

Result<Descriptor> open_running_vdso() {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  const MemoryRange range = place_of_vdso();
  if (range.begin >= range.end || range.end - range.begin > kMostBytes) {
    return Error{ErrorCode::kNotFound, kNoOffset, "there is no vdso here"};
  }
  const Descriptor memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));  // NOLINT(*-vararg)
  if (!memory) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot read the vdso", errno};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(range.end - range.begin));
  const ssize_t read =
      ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(range.begin));
  if (read < 0) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot read the vdso", errno};
  }
  bytes.resize(static_cast<std::size_t>(read));
  return make_memory_file(bytes);
}

}  // namespace stackpack::io
