#pragma once

#include <cstdint>
#include <string>

#include "io/spill_file.h"
#include "scratch/spill_pages.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// A callstack on its way into the file: the node of a builder where it ends.
struct NodeRef {
  std::uint16_t segment = 0;
  std::uint16_t depth = 0;  ///< frames of the callstack
  std::uint32_t node = 0;   ///< 0 (the root): no callstack

  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

/// What became of the promises of a source: 8 bytes each, in memory up to a budget and in a scratch
/// file beyond. Errors: kIo.
class PromiseTable {
 public:
  PromiseTable(std::string scratch_directory, std::uint64_t budget_bytes)
      : file_(std::move(scratch_directory)), pages_(file_, budget_bytes) {}

  /// The number of the next promise, counted from 0; it is kept with no callstack until keep().
  std::uint32_t open() { return count_++; }

  Status keep(std::uint32_t promise, const NodeRef& stack) {
    return pages_.set(at(promise), stack);
  }

  [[nodiscard]] Result<NodeRef> kept(std::uint32_t promise) {
    return pages_.get<NodeRef>(at(promise));
  }

 private:
  static std::uint64_t at(std::uint32_t promise) {
    return std::uint64_t{promise} * sizeof(NodeRef);
  }

  io::SpillFile file_;
  scratch::SpillPages pages_;
  std::uint32_t count_ = 0;
};

}  // namespace stackpack::app
