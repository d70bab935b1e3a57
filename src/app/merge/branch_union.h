#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/merge/image_table.h"
#include "capture/branch_order.h"
#include "capture/loss_counters.h"
#include "spk/write/branch_writer.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The branches of all inputs of a merge, added up by event and image.
///
/// Memory: kBytes for edges and the same for ranges; more goes to a scratch file.
class BranchUnion {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;

  explicit BranchUnion(const std::string& scratch_directory)
      : edges_(scratch_directory, kBytes), ranges_(scratch_directory, kBytes) {}

  /// What an input's numbers are in the merge: images by its rows of modules, events by its events.
  struct Input {
    std::span<const InputImage> images;
    const ImageTable& table;  // placed
    std::span<const std::uint32_t> events;
  };
  /// Errors: kIo.
  Status add(const Branches& branches, const Input& input);

  /// Once. `first_row`: the row of modules of the first image of the merge. Counts in `losses` the
  /// ranges that have no image any more.
  Status write(std::uint32_t first_row, capture::LossCounters& losses, spk::BranchWriter& out);

 private:
  capture::BranchSums<BranchEdge> edges_;
  capture::BranchSums<BranchRange> ranges_;
  std::uint64_t without_image_ = 0;
};

}  // namespace stackpack::app
