#pragma once

#include <cstdint>
#include <vector>

#include "spk/format/layout.h"
#include "stackpack/names.h"

namespace stackpack::spk {

/// Counts the calls that are inlined into each other at the lines of a file: where a line is shown,
/// all of them are. Rows name rows before them, so that n of each could stand for the square of n.
///
/// Memory: four bytes per call.
class InlineBounds {
 public:
  /// `parent` is kNoInline or a row added before.
  void add_call(std::uint32_t parent) {
    depths_.push_back(parent == kNoInline ? 1 : depths_[parent] + 1);
  }
  /// `inlined` is kNoInline or a row added.
  void add_line(std::uint32_t inlined) {
    ++lines_;
    shown_ += inlined == kNoInline ? 0 : depths_[inlined];
  }
  [[nodiscard]] bool kept() const { return shown_ / kInlinedPerRow <= lines_ + depths_.size(); }

 private:
  std::vector<std::uint32_t> depths_;
  std::uint64_t lines_ = 0;
  std::uint64_t shown_ = 0;
};

}  // namespace stackpack::spk
