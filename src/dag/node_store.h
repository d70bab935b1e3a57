#pragma once

#include <cassert>
#include <cstdint>

#include "dag/frame_word.h"
#include "io/growable_block.h"

namespace stackpack::dag {

/// The nodes of a builder: append-only, struct of arrays, 12 1/8 bytes each.
///
/// Node 0 is the root, its own parent. Invariant: parent(i) < i for every other node.
/// The arrays stand in GrowableBlocks: indices are plain subscripts, growing moves pages instead of
/// bytes, and walks up the tree find huge pages.
class NodeStore {
 public:
  /// Bytes per node, the stack-end bit rounded up.
  static constexpr std::uint64_t bytes_for(std::uint64_t nodes) {
    return nodes * (sizeof(FrameWord) + sizeof(std::uint32_t)) + nodes / 8 + 8;
  }

  /// Makes room for `count` nodes in all. False when the system has no memory left.
  [[nodiscard]] bool reserve(std::uint64_t count);

  /// Appends a node; there must be room.
  std::uint32_t append(FrameWord word, std::uint32_t parent) {
    assert(size_ < capacity_ && (parent < size_ || size_ == 0));
    words_[size_] = word;
    parents_[size_] = parent;
    return size_++;
  }

  /// Fetches a node that will be read soon.
  void prefetch(std::uint32_t node) const {
    __builtin_prefetch(&words_[node]);
    __builtin_prefetch(&parents_[node]);
  }
  void mark_end(std::uint32_t node) { ends_[node / 64] |= std::uint64_t{1} << (node % 64); }

  [[nodiscard]] FrameWord word(std::uint32_t node) const { return words_[node]; }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const { return parents_[node]; }
  [[nodiscard]] bool is_end(std::uint32_t node) const {
    return ((ends_[node / 64] >> (node % 64)) & 1) != 0;
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

  /// The arrays themselves, for the one who takes the store apart (freeze).
  struct Arrays {
    io::GrowableArray<FrameWord> words;
    io::GrowableArray<std::uint32_t> parents;
    io::GrowableArray<std::uint64_t> ends;
    std::uint32_t size = 0;
  };
  /// Leaves the store without nodes and without memory.
  Arrays take();

 private:
  io::GrowableArray<FrameWord> words_;
  io::GrowableArray<std::uint32_t> parents_;
  io::GrowableArray<std::uint64_t> ends_;
  std::uint32_t size_ = 0;
  std::uint64_t capacity_ = 0;
};

}  // namespace stackpack::dag
