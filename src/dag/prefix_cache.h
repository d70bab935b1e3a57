// The last callstack of each thread.
//
// Consecutive callstacks of a thread share most of their frames from the root on: 60 to 90 % of all
// look-ups are answered by comparing with the last one. An entry keeps, for each frame of it, the
// word, the node and the path hash.
//
// The arrays are end-aligned: the frame at the root stands last, as in the callstacks that arrive
// (leaf first). The shared part then stays where it is whatever the depth, and the part that is new
// is written in place over the old one.
//
// Threads are named by the input, so their number is bounded: kWays entries in each of kSets sets,
// least recently used out first. So is the memory of the entries; when it would pass the budget the
// cache is emptied and starts again. Callstacks deeper than kDeepest share one entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dag/frame_word.h"
#include "dag/node_map.h"

namespace stackpack::dag {

/// A callstack in the cache. Frame k counted from the root (k = 0) is at index slot(k).
///
/// All three arrays have kSpare elements in front that no frame uses, for readers of whole blocks.
struct LastStack {
  static constexpr std::size_t kSpare = 8;

  std::vector<FrameWord> words;
  std::vector<std::uint32_t> nodes;
  std::vector<PathHash> hashes;
  std::uint32_t depth = 0;

  [[nodiscard]] std::size_t slot(std::size_t k) const { return words.size() - 1 - k; }

  /// Becomes a callstack of `new_depth` frames, for which there is room, of which the `count`
  /// nearest to the leaf are new. The arrays hold these, leaf first.
  void take(const FrameWord* new_words, const PathHash* new_hashes, const std::uint32_t* new_nodes,
            std::uint32_t new_depth, std::uint32_t count) {
    const auto end = static_cast<std::ptrdiff_t>(words.size() - new_depth);
    std::copy_n(new_words, count, words.begin() + end);
    std::copy_n(new_hashes, count, hashes.begin() + end);
    std::copy_n(new_nodes, count, nodes.begin() + end);
    depth = new_depth;
  }
};

class PrefixCache {
 public:
  static constexpr std::uint32_t kSets = 512;
  static constexpr std::uint32_t kWays = 4;
  static constexpr std::uint32_t kDeepest = 512;
  static constexpr std::uint64_t kFrameBytes =
      sizeof(FrameWord) + sizeof(std::uint32_t) + sizeof(PathHash);

  /// `budget`: bytes for the frames of all entries but the shared deep one.
  explicit PrefixCache(std::uint64_t budget);

  /// The callstack that entry() would give, or null when there is none. Changes nothing; valid
  /// until the next entry().
  [[nodiscard]] const LastStack* find(std::uint64_t thread, std::uint32_t depth) const;

  /// The last callstack of `thread`, with room for `depth` frames; depth 0 inside when there is
  /// none. Valid until the next call.
  LastStack& entry(std::uint64_t thread, std::uint32_t depth);

  /// Bytes held now, and the most that it will ever hold.
  [[nodiscard]] std::uint64_t memory_bytes() const { return kTableBytes + frames_ * kFrameBytes; }
  [[nodiscard]] std::uint64_t most_bytes() const;

 private:
  static constexpr std::uint64_t kTableBytes =
      std::uint64_t{kSets} * kWays * (sizeof(LastStack) + sizeof(std::uint64_t) * 2);

  [[nodiscard]] static std::size_t first_way(std::uint64_t thread);
  LastStack& grow(LastStack& stack, std::uint32_t depth);
  void clear();

  std::uint64_t budget_frames_;
  std::uint64_t frames_ = 0;  // capacity of all entries
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> threads_;  // kWays of a set side by side
  std::vector<std::uint64_t> used_;     // clock at the last use
  std::vector<LastStack> stacks_;
  LastStack deep_;
};

}  // namespace stackpack::dag
