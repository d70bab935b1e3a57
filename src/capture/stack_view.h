#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stackpack/model.h"

namespace stackpack::capture {

/// `count` consecutive frames of one mode.
struct ModeRun {
  FrameMode mode = FrameMode::kUnknown;
  std::uint32_t count = 0;
};

/// A recorded callstack as a source sees it: leaf first, addresses apart from their modes.
///
/// Invariant: the counts of `runs` add up to addresses.size(); no run is empty.
/// Lifetime:  a view; the memory belongs to the source and is valid during the call it is passed
/// to.
struct StackView {
  std::span<const std::uint64_t> addresses;
  std::span<const ModeRun> runs;

  [[nodiscard]] bool empty() const { return addresses.empty(); }
  [[nodiscard]] std::size_t depth() const { return addresses.size(); }
};

}  // namespace stackpack::capture
