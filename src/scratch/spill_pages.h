#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "io/growable_block.h"
#include "io/spill_file.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Looks at a spill file, and changes it, a number at a time through a bounded number of pages.
///
/// Numbers lie at multiples of their size. What lies beyond the end of the file reads as zero and
/// comes into being when it is written. While all pages fit the budget, nothing is written to disk.
/// Memory: `budget_bytes` (at least kLeastPages pages) and 33 bits per page of the file.
/// Threads: one at a time. Errors: kIo.
class SpillPages {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint64_t kLeastPages = 16;

  /// `file` must outlive this, and nobody else may change it from now on.
  SpillPages(io::SpillFile& file, std::uint64_t budget_bytes);

  template <typename T>
  Result<T> get(std::uint64_t offset) {
    static_assert(std::is_trivially_copyable_v<T> && kPageBytes % sizeof(T) == 0);
    assert(offset % sizeof(T) == 0);
    const Result<std::byte*> at = bytes_at(offset, false);
    if (!at) {
      return at.error();
    }
    T value;
    std::memcpy(&value, *at, sizeof value);
    return value;
  }

  template <typename T>
  Status set(std::uint64_t offset, const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && kPageBytes % sizeof(T) == 0);
    assert(offset % sizeof(T) == 0);
    const Result<std::byte*> at = bytes_at(offset, true);
    if (!at) {
      return at.error();
    }
    std::memcpy(*at, &value, sizeof value);
    return {};
  }

  /// The byte at `offset` and those after it in its page, which stays in memory until the next
  /// call of any of these. `change`: whether they will be written.
  Result<std::byte*> bytes_at(std::uint64_t offset, bool change) {
    const std::uint64_t page = offset / kPageBytes;
    if (page >= frame_of_.size() || frame_of_[page] == 0) {
      if (const Status loaded = load(page); !loaded) {
        return loaded.error();
      }
    }
    Frame& frame = frames_[frame_of_[page] - 1];
    frame.used = true;
    frame.changed |= change;
    return bytes_.data() + (frame_of_[page] - 1) * kPageBytes + offset % kPageBytes;
  }

  /// Pages read from the file so far.
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  struct Frame {
    std::uint64_t page = 0;
    bool used = false;  // since the hand passed
    bool changed = false;
  };

  Status load(std::uint64_t page);
  Result<std::uint32_t> free_frame();
  std::span<std::byte> bytes_of(std::size_t frame) {
    return {bytes_.data() + frame * kPageBytes, kPageBytes};
  }

  io::SpillFile& file_;
  std::uint64_t most_frames_;
  std::vector<std::uint32_t> frame_of_;  // by page: frame + 1; 0 = not in memory
  std::vector<bool> on_disk_;            // by page: it was written, or there before
  std::vector<Frame> frames_;
  io::GrowableArray<std::byte> bytes_;  // kPageBytes for each frame
  std::size_t hand_ = 0;                // of the clock that chooses the page to go next
  std::uint64_t reads_ = 0;
};

}  // namespace stackpack::scratch
