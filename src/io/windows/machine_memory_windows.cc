#include <algorithm>

#include <windows.h>

#include "io/machine_memory.h"

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

}  // namespace stackpack::io
