#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

#include "io/memory_file.h"

namespace stackpack::io {

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

}  // namespace stackpack::io
