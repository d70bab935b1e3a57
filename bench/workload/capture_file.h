#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>
#include <span>
#include <string>

namespace stackpack::bench {

/// A capture being written: bytes at the end, and a few back in the headers once they are known.
class CaptureFile {
 public:
  explicit CaptureFile(const std::string& path)
      : file_(path, std::ios::binary | std::ios::trunc | std::ios::out) {}

  void append(std::span<const std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t count = std::min(bytes.size() - done, sizeof chunk_);
      std::memcpy(chunk_, bytes.data() + done, count);
      file_.write(chunk_, static_cast<std::streamsize>(count));
      done += count;
    }
    size_ += bytes.size();
  }

  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
    file_.seekp(static_cast<std::streamoff>(offset));
    const std::uint64_t size = size_;
    append(bytes);
    size_ = size;
    file_.seekp(0, std::ios::end);
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Whether everything was written.
  bool close() {
    file_.close();
    return !file_.fail();
  }

 private:
  std::ofstream file_;
  std::uint64_t size_ = 0;
  char chunk_[4096];
};

}  // namespace stackpack::bench
