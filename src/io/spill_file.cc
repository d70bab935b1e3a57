#include "io/spill_file.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "io/output_file.h"

namespace stackpack::io {

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status SpillFile::open() {
  if (descriptor_ < 0) {
    const Result<int> opened = open_nameless_file(directory_);
    if (!opened) {
      return opened.error();
    }
    descriptor_ = *opened;
  }
  return {};
}

Result<std::uint64_t> SpillFile::append(std::span<const std::byte> bytes) {
  const std::uint64_t start = size_;
  const Status written = write_at(start, bytes);
  return written ? Result<std::uint64_t>(start) : written.error();
}

Status SpillFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const Status opened = open(); !opened) {
    return opened;
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(offset + done));
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return Error{ErrorCode::kIo, kNoOffset, "cannot write to the temporary file", errno};
    }
  }
  size_ = std::max<std::uint64_t>(size_, offset + bytes.size());
  return {};
}

Status SpillFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::pread(descriptor_, into.data() + done, into.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count == 0) {
      return Error{ErrorCode::kIo, kNoOffset, "temporary file is shorter than it was"};
    }
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return Error{ErrorCode::kIo, kNoOffset, "cannot read the temporary file", errno};
    }
  }
  return {};
}

}  // namespace stackpack::io
