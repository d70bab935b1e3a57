#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/spill_file.h"
#include "scratch/spill_pages.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Numbers by index, in memory or in a scratch file that is looked at through a bounded number of
/// pages. Unlike scratch::SpillArray it can be searched as a span while it is in memory, and
/// returns each error where it happens. Errors: kIo where they are not in memory.
template <typename T>
class SpillableArray {
 public:
  /// `page_bytes`: for the pages of the scratch file; 0: all in memory.
  SpillableArray(std::string scratch_directory, std::uint64_t page_bytes)
      : file_(std::move(scratch_directory)) {
    if (page_bytes != 0) {
      pages_.emplace(file_, page_bytes);
    }
  }

  /// The next element has index `size`, which the caller counts.
  Status append(std::uint64_t size, const T& value) {
    if (pages_.has_value()) {
      return pages_->set(size * sizeof value, value);
    }
    assert(size == values_.size());
    values_.push_back(value);
    return {};
  }

  Status set(std::uint64_t index, const T& value) {
    if (pages_.has_value()) {
      return pages_->set(index * sizeof value, value);
    }
    values_[index] = value;
    return {};
  }

  [[nodiscard]] Result<T> get(std::uint64_t index) {
    return pages_.has_value() ? pages_->template get<T>(index * sizeof(T))
                              : Result<T>(values_[index]);
  }

  /// All elements where they are in memory, or nothing.
  [[nodiscard]] std::span<const T> in_memory() const { return values_; }

 private:
  io::SpillFile file_;
  std::optional<scratch::SpillPages> pages_;
  std::vector<T> values_;
};

}  // namespace stackpack::scratch
