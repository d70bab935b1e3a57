#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/spill_file.h"
#include "scratch/spill_pages.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Pages of memory that go to a scratch file when there are more than fit a budget. Tables of which
/// nobody knows which will be the large one share it: SpillArray, SpillRecords, SpillTable and
/// SpillChains.
///
/// Failure is sticky: after the first error every page reads as zeros and what is written is gone,
/// so that users need no check of their own; their owner looks at status() now and then.
/// Memory: the budget, and about 12 bytes per page. Threads: one at a time.
class SpillSpace {
 public:
  static constexpr std::size_t kPageBytes = SpillPages::kPageBytes;

  /// The scratch file is made in `directory` when it is needed, not before.
  SpillSpace(std::string directory, std::uint64_t budget_bytes)
      : file_(std::move(directory)), pages_(file_, budget_bytes) {}
  SpillSpace(const SpillSpace&) = delete;
  SpillSpace& operator=(const SpillSpace&) = delete;

  /// The first error: kIo, or kLimit.
  [[nodiscard]] const Status& status() const { return status_; }
  void fail(const Error& error);

  /// The number of a page of zeros.
  std::uint32_t take_page();

  /// The page is not needed any more; take_page() may give its number again.
  void give_back(std::uint32_t page) { free_.push_back(page); }

  /// A byte of a page and those after it, until the next call of any method of the space, which
  /// all its users share. `change`: whether they will be written.
  std::byte* bytes_at(std::uint32_t page, std::size_t offset, bool change) {
    if (status_) {
      const Result<std::byte*> found =
          pages_.bytes_at(std::uint64_t{page} * kPageBytes + offset, change);
      if (found) {
        return *found;
      }
      fail(found.error());
    }
    return nowhere();
  }

  /// Bytes that went to disk.
  [[nodiscard]] std::uint64_t spilled_bytes() const { return file_.size(); }

 private:
  std::byte* nowhere() {
    nowhere_.fill(std::byte{0});
    return nowhere_.data();
  }

  io::SpillFile file_;
  SpillPages pages_;
  std::vector<std::uint32_t> free_;
  std::uint32_t page_count_ = 0;
  Status status_;
  std::array<std::byte, kPageBytes> nowhere_{};
};

}  // namespace stackpack::scratch
