// A page in memory: 4,096 nodes in less than 2 bytes each, decoded in place.
//
// Nodes are in depth-first order, so the parent of most nodes is the node before them. A bit per
// node says so ("continues"). Most others are siblings of the node before them, which another bit
// says. The rest has an explicit parent, found by counting bits with the help of a rank directory:
// a node of the page or an entry of the spine, the frames above the page's first node. No stack
// needs another page.
//
// Half of the nodes are the first child of the node before them and have the frame that follows
// their parent's frame most often: the edge table's child of rank 0. Those need not name their
// frame. A bit per node says which nodes do, and every first one of a word of bits does, so that a
// frame is found in a few steps within the word.
//
// Which nodes end a callstack is nearly always "those without a child in this page", which the bits
// say already; exceptions are listed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spk/format/bit_array.h"
#include "spk/read/edge_table.h"
#include "spk/read/frame_dictionary.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// What decides the size of a page.
struct PageShape {
  std::uint32_t nodes = 0;
  std::uint32_t stacks = 0;      ///< callstacks that end in it
  std::uint32_t parents = 0;     ///< nodes that are neither child nor sibling of the one before
  std::uint32_t named = 0;       ///< nodes that name their frame
  std::uint32_t spine = 0;       ///< frames above the first node
  std::uint32_t exceptions = 0;  ///< nodes where "ends a stack" and "is a leaf" differ
  std::uint32_t frame_bits = 0;  ///< of a dictionary index
};

class ResidentPage {
 public:
  struct Node {
    std::uint32_t frame;   ///< dictionary index
    std::uint32_t parent;  ///< a node before; or number of nodes + frames of the spine above it
    bool top;              ///< first child of its parent, and the frame is the edge row's top
  };
  /// Whether the node is at a place where frames can be left out.
  static constexpr bool may_be_unnamed(std::size_t node) { return node % 64 != 0; }

  ResidentPage() = default;
  /// Packs a page. `nodes` in canonical order; `spine`: frames from the root on; `exceptions`:
  /// nodes, ascending. All checked.
  ResidentPage(std::span<const Node> nodes, std::span<const std::uint32_t> spine,
               std::span<const std::uint32_t> exceptions, unsigned frame_bits);

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return sizeof *this + words_.capacity() * sizeof(std::uint64_t);
  }
  [[nodiscard]] const PageShape& shape() const { return shape_; }
  [[nodiscard]] std::uint32_t node_count() const { return shape_.nodes; }
  [[nodiscard]] std::uint32_t stack_count() const { return shape_.stacks; }
  [[nodiscard]] bool last_node_ends_stack() const;

  /// Appends the frames of callstack number `stack` < stack_count() of this page, leaf first.
  /// `edges`: those that the page was decoded with.
  void append_stack(std::uint32_t stack, const FrameDictionary& dictionary, const EdgeTable& edges,
                    std::vector<Frame>& frames) const;
  /// The dictionary index of the leaf of that callstack.
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t stack, const EdgeTable& edges) const;

 private:
  static constexpr std::uint32_t kStacksPerSample = 16;

  // First stands what is known bit by bit: per 64 nodes a row of four words, half a cache line.
  enum RowWord : std::uint8_t {
    kContinues,  // bit per node
    kSiblings,   // bit per node
    kNames,      // bit per node: names its frame
    kRanks,      // nodes before the row that name their frame; above that, explicit parents
  };
  static constexpr std::size_t kWordsPerRow = 4;
  static constexpr unsigned kParentRankShift = 32;

  // Where the arrays after the rows begin in words_.
  struct Places {
    std::uint32_t stack_sample;  // u16 per kStacksPerSample stacks: the node of the first of them
    std::uint32_t exceptions;    // u16 each, ascending
    std::uint32_t frames;        // frame_bits each, of the nodes that name them
    std::uint32_t parents;       // parent_bits each
    std::uint32_t spine;         // frame_bits each
    std::uint32_t total;
  };
  static Places places_of(const PageShape& shape);
  static unsigned parent_bits_of(const PageShape& shape) {
    return bit_width_of(shape.nodes + shape.spine);
  }

  void pack_nodes(std::span<const Node> nodes);
  void pack_exceptions(std::span<const std::uint32_t> exceptions);
  void sample_stacks();

  [[nodiscard]] std::uint32_t half_word(std::size_t place, std::size_t index) const {
    return (words_.data()[place + index / 4] >> (16 * (index % 4))) & 0xFFFF;
  }
  void set_half_word(std::size_t place, std::size_t index, std::uint32_t value) {
    words_[place + index / 4] |= std::uint64_t{value} << (16 * (index % 4));
  }
  [[nodiscard]] FieldArray fields_from(std::size_t place, unsigned width) const {
    return {std::span(words_).subspan(place), width};
  }
  [[nodiscard]] std::uint64_t& bits(std::size_t row, RowWord word) {
    return words_.data()[row * kWordsPerRow + word];
  }
  [[nodiscard]] const std::uint64_t& bits(std::size_t row, RowWord word) const {
    return words_.data()[row * kWordsPerRow + word];
  }
  [[nodiscard]] std::size_t bit_words() const { return (std::size_t{shape_.nodes} + 63) / 64; }
  [[nodiscard]] std::uint64_t end_word(std::size_t word) const;
  [[nodiscard]] std::uint32_t node_of_stack(std::uint32_t stack) const;
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t node) const;

  PageShape shape_;
  Places places_{};
  unsigned parent_bits_ = 0;
  std::uint64_t exception_words_ = 0;  // bit per word of bits: it has exceptions
  std::vector<std::uint64_t> words_;
};

}  // namespace stackpack::spk
