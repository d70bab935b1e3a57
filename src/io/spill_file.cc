#include "io/spill_file.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "io/system_file.h"

namespace stackpack::io {

namespace {

// It goes with the output: no input is to blame.
Error of_temporary_file(std::string_view what, int os_error) {
  return {ErrorCode::kIo, kNoOffset, what, os_error, kOutputPart};
}

}  // namespace

Status SpillFile::open() {
  if (!file_) {
    file_ = open_nameless(directory_);
    if (!file_) {
      return of_temporary_file("cannot create a temporary file", errno);
    }
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
  if (!write_all_at(file_.get(), offset, bytes)) {
    return of_temporary_file("cannot write to the temporary file", errno);
  }
  size_ = std::max<std::uint64_t>(size_, offset + bytes.size());
  return {};
}

Status SpillFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::int64_t count = read_some_at(file_.get(), offset + done, into.subspan(done));
    if (count < 0) {
      return of_temporary_file("cannot read the temporary file", errno);
    }
    if (count == 0) {
      return of_temporary_file("temporary file is shorter than it was", 0);
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace stackpack::io
