#include <cerrno>

#include "io/directories.h"
#include "io/memory_file.h"
#include "io/system_file.h"

namespace stackpack::io {

// A temporary file that the system keeps in its cache and removes when it is closed.
Result<Descriptor> make_memory_file(std::span<const std::byte> bytes) {
  Descriptor file = open_nameless(temporary_directory());
  if (!file) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot make a file in memory", errno};
  }
  if (!write_all_at(file.get(), 0, bytes)) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot write a file in memory", errno};
  }
  return file;
}

Result<Descriptor> open_running_vdso() {
  return Error{ErrorCode::kNotFound, kNoOffset, "there is no vdso here"};
}

}  // namespace stackpack::io
