#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/number_table.h"
#include "scratch/sorted_runs.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Counts samples per (stack, event, process, origin), in bounded memory.
///
/// Counts collect in a hash; when that is full, they go to a nameless scratch file as a sorted run,
/// and the runs are merged in the end. What comes out does not depend on the bound. Weights stop at
/// 2^64 - 1.
class StackCountTable {
 public:
  using Row = StackCount;

  /// `memory_bytes`: for the hash and for sorting what is in it; 0: no bound.
  StackCountTable(std::string scratch_directory, std::uint64_t memory_bytes);

  /// Errors: kIo.
  Status add(const StoredSample& sample);
  /// A count of samples; at least one.
  Status add(const StackCount& count);

  /// All rows in order of (stack, event, process, origin), `block_rows` at a time, fewer only in
  /// the last block; no visit when there are none. Call once, after the last add().
  /// Errors: kIo, and whatever `visit` returns.
  Status for_each_block(std::size_t block_rows,
                        const std::function<Status(std::span<const Row>)>& visit);

 private:
  struct Key {
    StackId stack;
    std::uint32_t event;
    std::uint32_t pid;
    StackOrigin origin;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    std::uint64_t operator()(const Key& key) const;
  };
  struct Count {
    std::uint64_t samples = 0;
    std::uint64_t weight = 0;
  };

  std::vector<Row> take_sorted();

  // What a count takes (key, count, both twice while their arrays grow, the slots of the table) and
  // as a row of the sorted run beside them.
  static constexpr std::uint64_t kBytesPerCount =
      2 * (sizeof(Key) + sizeof(Count)) + 16 + sizeof(Row);

  core::NumberTable<Key, HashKey> keys_;
  std::vector<Count> counts_;  // by number of the key
  std::uint64_t most_counts_;
  scratch::SortedRuns<Row> runs_;
};

}  // namespace stackpack::spk
