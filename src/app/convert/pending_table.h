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

/// What became of the pending callstacks of a source: 8 bytes each, in memory up to a budget and in
/// a scratch file beyond. Errors: kIo.
class PendingTable {
 public:
  PendingTable(std::string scratch_directory, std::uint64_t budget_bytes)
      : file_(std::move(scratch_directory)), pages_(file_, budget_bytes) {}

  /// The number of the next pending callstack, counted from 0; there is none until resolve().
  std::uint32_t open() { return count_++; }

  Status resolve(std::uint32_t pending, const NodeRef& stack) {
    return pages_.set(at(pending), stack);
  }

  [[nodiscard]] Result<NodeRef> resolved(std::uint32_t pending) {
    return pages_.get<NodeRef>(at(pending));
  }

 private:
  static std::uint64_t at(std::uint32_t pending) {
    return std::uint64_t{pending} * sizeof(NodeRef);
  }

  io::SpillFile file_;
  scratch::SpillPages pages_;
  std::uint32_t count_ = 0;
};

}  // namespace stackpack::app
