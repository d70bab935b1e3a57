#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::spk {

/// Decoded columns of a block, by stored position unless it says otherwise. Columns that were not
/// asked for are empty.
struct EntryColumns {
  std::span<const std::uint32_t> order;      ///< stored positions in the order of the capture
  std::span<const std::uint32_t> by_thread;  ///< the same, thread by thread
  std::span<const std::uint32_t> entries;
  std::span<const std::uint64_t> times;
  std::span<const std::uint32_t> threads;
  std::span<const std::uint64_t> weights;
  std::span<const std::uint8_t> flags;
  std::span<const StackId> stacks;      ///< by entry
  std::span<const std::uint32_t> pids;  ///< by thread
  std::span<const std::uint32_t> tids;  ///< by thread
};

/// Adds up the samples of a block by entry. Keeps its rows between calls. Threads: one at a time.
class EntrySummer {
 public:
  /// False: a sample has no callstack, or those of an entry have different flags. Sets the rows of
  /// `sums`, which are valid until the next call, and whether weights are equal.
  bool sum(const EntryColumns& of, EntrySums& sums);

 private:
  // While samples are added up.
  struct Sum {
    std::uint64_t weight = 0;
    std::uint32_t count = 0;
    std::uint32_t first = 0;  // stored positions
    std::uint32_t last = 0;
    std::uint8_t flags = 0;
  };

  bool add_up(const EntryColumns& of, EntrySums& sums);
  void add_rows(const EntryColumns& of);

  std::vector<Sum> sums_;                // by entry
  std::vector<std::uint64_t> is_first_;  // bits, by stored position: the first of its entry
  std::vector<std::uint32_t> firsts_;    // stored positions of those, in the order of the capture
  std::vector<EntrySum> rows_;
};

}  // namespace stackpack::spk
