#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "app/convert/capture_spool.h"
#include "spk/write/stack_count_table.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Samples of a merge that keeps no samples, added up before they go to the spool: as counts per
/// callstack, event, process and origin.
class EntryCounts {
 public:
  EntryCounts(CaptureSpool& spool, std::uint64_t memory_bytes)
      : spool_(spool), memory_bytes_(memory_bytes) {}

  /// `count.stack` is the place of the callstack in the next flush's `nodes`, or kNoStack.
  Status add(const StackCount& count);

  /// Hands over what was added.
  Status flush(std::span<const NodeRef> nodes);

 private:
  CaptureSpool& spool_;
  std::uint64_t memory_bytes_;
  std::unique_ptr<spk::StackCountTable> counts_;
};

}  // namespace stackpack::app
