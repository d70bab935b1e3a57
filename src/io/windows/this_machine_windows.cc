#include <algorithm>

#include <windows.h>

#include "io/this_machine.h"

namespace stackpack::io {

std::uint64_t usable_memory() {
  std::uint64_t least = kNoMemoryLimit;
  MEMORYSTATUSEX machine{};
  machine.dwLength = sizeof machine;
  if (::GlobalMemoryStatusEx(&machine) != 0 && machine.ullTotalPhys != 0) {
    least = machine.ullTotalPhys;
  }
  // Of the job that this process is in; of several, the innermost says what holds for all.
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job,
                                  nullptr) != 0) {
    const DWORD flags = job.BasicLimitInformation.LimitFlags;
    if ((flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0 && job.ProcessMemoryLimit != 0) {
      least = std::min<std::uint64_t>(least, job.ProcessMemoryLimit);
    }
    if ((flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0 && job.JobMemoryLimit != 0) {
      least = std::min<std::uint64_t>(least, job.JobMemoryLimit);
    }
  }
  return least;
}

// Captures of Windows are named by identities of images; nothing below has more to say.

std::string host_name() {
  return {};
}

std::string kernel_release() {
  return {};
}

std::vector<std::byte> running_kernel_notes() {
  return {};
}

std::optional<std::int64_t> wall_offset_of_monotonic() {
  return std::nullopt;
}

std::uint64_t monotonic_now() {
  return 0;
}

bool is_of_root_or_us(int /*descriptor*/) {
  return false;
}

std::optional<std::int64_t> made_at(int /*descriptor*/) {
  return std::nullopt;
}

std::optional<FileOnDisk> file_on_disk(int /*descriptor*/) {
  return std::nullopt;
}

std::optional<std::uint32_t> pid_inside(std::uint32_t /*pid*/) {
  return std::nullopt;
}

}  // namespace stackpack::io
