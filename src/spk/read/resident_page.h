// A page in memory: 4,096 nodes in about 1.5 bytes each, decoded in place.
//
// Nodes are in depth-first order, so the parent of most nodes is the node before them. Two bits per
// node say how it stands to that one. The parent of a few nodes is explicit, found by counting bits
// with the help of a rank directory.
//
// Blocks of 256 nodes keep the path from the root to the parent of their first node: the "spine"
// of the page for the first block; for the others how much of the spine they share, and the frames
// below. So a callstack is a walk over a few nodes of one block, each step after the one before,
// and then two stretches of packed frames that do not depend on each other. The outermost frames of
// the spine, which nearly every callstack has, are kept as addresses. No callstack needs another
// page.
//
// Half of the nodes are the first child of the node before them and have the frame that follows
// their parent's frame most often: the edge table's child of rank 0. Those need not name their
// frame; every first node of a row of 64 does, so that a frame is found in a few steps. Others name
// it by dictionary index; but leaves, which no other node waits for, by the position in the
// edge row of their parent's frame, in a byte.
//
// Which nodes end a callstack is nearly always "those without a child in this page", which the bits
// say already; exceptions are listed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/bit_array.h"
#include "spk/format/layout.h"
#include "spk/read/edge_table.h"
#include "spk/read/frame_dictionary.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// What decides the size of a page.
struct PageShape {
  std::uint32_t nodes = 0;
  std::uint32_t stacks = 0;        ///< callstacks that end in it
  std::uint32_t parents = 0;       ///< nodes that are neither child nor sibling of the one before
  std::uint32_t indexed = 0;       ///< nodes that name their frame by dictionary index
  std::uint32_t coded = 0;         ///< leaves that name it by position
  std::uint32_t far_codes = 0;     ///< those of them whose position is no byte
  std::uint32_t spine = 0;         ///< frames above the first node
  std::uint32_t block_frames = 0;  ///< frames of the other blocks' paths that are kept with them
  std::uint32_t exceptions = 0;    ///< nodes where "ends a stack" and "is a leaf" differ
  std::uint32_t frame_bits = 0;    ///< of a dictionary index
  std::uint32_t inner_bits = 0;    ///< of that of a frame with children
  std::uint32_t outer = 0;  ///< frames of the spine, the outermost, that are kept as they are
  FrameMode outer_mode = FrameMode::kUser;  ///< of all of them
  bool mixed_modes = false;                 ///< no: each has its own
  std::uint32_t parent_bits = 0;
};

class ResidentPage {
 public:
  struct Node {
    std::uint32_t frame;     ///< dictionary index
    std::uint32_t parent;    ///< a node before; or number of nodes + frames of the spine above it
    std::uint32_t position;  ///< of the frame in the edge row of the parent's frame
    bool top;                ///< first child of its parent, and the frame is the edge row's top
  };

  ResidentPage() = default;

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return sizeof *this + words_.capacity() * sizeof(std::uint64_t);
  }
  [[nodiscard]] const PageShape& shape() const { return shape_; }
  [[nodiscard]] std::uint32_t node_count() const { return shape_.nodes; }
  [[nodiscard]] std::uint32_t stack_count() const { return shape_.stacks; }
  [[nodiscard]] bool last_node_ends_stack() const;

  /// The frames of callstack number `stack` < stack_count() of this page, leaf first, into `frames`
  /// (replaced).
  /// `edges`: those that the page was decoded with.
  void read_stack(std::uint32_t stack, const FrameDictionary& dictionary, const EdgeTable& edges,
                  std::vector<Frame>& frames) const;
  /// The dictionary index of the leaf of that callstack.
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t stack, const EdgeTable& edges) const;

 private:
  friend class PagePacker;

  static constexpr std::uint32_t kStacksPerHint = 16;
  static constexpr std::uint32_t kBlockNodes = 256;
  static constexpr std::uint32_t kRowsPerBlock = kBlockNodes / 64;
  static constexpr std::uint32_t kFarCode = 0xFF;
  // So many frames of the spine are kept as addresses, too: nearly every callstack has them.
  static constexpr std::uint32_t kMostOuter = 24;

  // First stand the rows, one per 64 nodes and one without nodes at the end: three words each.
  static constexpr std::size_t kWordsPerRow = 3;
  class Row {
   public:
    explicit Row(const std::uint64_t* words) : words_(words) {}

    // Bit per node: child of the node before.
    [[nodiscard]] std::uint64_t continues() const { return words_[0]; }
    // Bit per node: such a child names its frame; another node has an explicit parent.
    [[nodiscard]] std::uint64_t marks() const { return words_[1]; }
    // How many there are before the row, 16 bits each: nodes with an index, coded ones, explicit
    // parents, callstacks.
    [[nodiscard]] std::uint64_t before() const { return words_[2]; }
    [[nodiscard]] std::size_t indexed() const { return before() & 0xFFFF; }
    [[nodiscard]] std::size_t coded() const { return (before() >> 16) & 0xFFFF; }
    [[nodiscard]] std::size_t parents() const { return (before() >> 32) & 0xFFFF; }
    [[nodiscard]] std::uint32_t stacks() const {
      return static_cast<std::uint32_t>(before() >> 48);
    }

    [[nodiscard]] std::uint64_t named() const { return ~continues() | marks(); }
    [[nodiscard]] std::uint64_t siblings() const { return ~(continues() | marks()); }
    [[nodiscard]] std::uint64_t with_parent() const { return ~continues() & marks(); }
    // Bit per node: has no child in this page. Looks at the row behind.
    [[nodiscard]] std::uint64_t leaves() const {
      return ~((continues() >> 1) | (words_[kWordsPerRow] << 63));
    }

   private:
    const std::uint64_t* words_;
  };
  static_assert(kNodesPerPage <= 0xFFFF && kNodesPerPage / 64 <= 0xFF + 1);

  // The path of a block but the first: the first `shared` frames of another path, then its own.
  struct BlockPath {
    std::uint32_t begin = 0;  // of its own frames
    std::uint32_t own = 0;    // how many
    std::uint32_t shared = 0;
    bool previous = false;  // shared with the block before; otherwise with the spine

    [[nodiscard]] std::uint32_t length() const { return shared + own; }
  };
  // Packed in 32 bits: begin, previous, shared.
  static constexpr unsigned kBeginBits = 15;
  static_assert(kNodesPerPage < (1U << kBeginBits) && kMaxStackDepth <= 0xFFFF);

  // Where the arrays after the rows begin in words_.
  struct Places {
    std::uint32_t hints;        // u8 per kStacksPerHint stacks: the row of the first of them
    std::uint32_t exceptions;   // u16 each, ascending
    std::uint32_t codes;        // u8 each, of the leaves that name their frame; kFarCode: listed
    std::uint32_t far_nodes;    // u16 each, ascending
    std::uint32_t paths;        // u32 per block and one more
    std::uint32_t outer;        // u64 each: addresses, from the root on
    std::uint32_t outer_modes;  // u8 each
    std::uint32_t far_frames;   // frame_bits each
    std::uint32_t frames;       // inner_bits each, as are:
    std::uint32_t spine;
    std::uint32_t block_frames;
    std::uint32_t parents;  // parent_bits each: below kBlockNodes a node of the block, else
                            // kBlockNodes + level of the block's path
    std::uint32_t total;
  };
  static Places places_of(const PageShape& shape);

  // A callstack: the frames of its nodes in one block, and where they hang.
  struct Walk {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled from the front
    std::array<std::uint32_t, kBlockNodes> frames;  // dictionary indices, leaf first
    std::uint32_t count;
    std::uint32_t block;
    std::uint32_t level;  // how many frames of the block's path follow
  };

  template <typename T>
  [[nodiscard]] T load(std::size_t place, std::size_t index) const {
    T value;
    std::memcpy(&value, std::as_bytes(std::span(words_)).data() + 8 * place + index * sizeof(T),
                sizeof value);
    return value;
  }
  [[nodiscard]] Row row(std::size_t number) const {
    return Row(words_.data() + number * kWordsPerRow);
  }
  [[nodiscard]] core::FieldArray fields_from(std::size_t place, unsigned width) const {
    return {std::span(words_).subspan(place), width};
  }
  [[nodiscard]] core::FieldArray frames_from(std::size_t place) const {
    return fields_from(place, shape_.inner_bits);
  }
  [[nodiscard]] std::size_t row_count() const { return (std::size_t{shape_.nodes} + 63) / 64; }
  [[nodiscard]] std::uint64_t end_word(std::size_t number) const;
  [[nodiscard]] std::uint32_t node_of_stack(std::uint32_t stack) const;
  [[nodiscard]] BlockPath path_of(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t path_frame(std::uint32_t block, std::uint32_t level) const;
  [[nodiscard]] std::uint32_t above(std::uint32_t node) const;
  [[nodiscard]] std::uint32_t coded_frame(std::uint32_t node, std::uint32_t parent_frame,
                                          const EdgeTable& edges) const;
  void walk(std::uint32_t stack, const EdgeTable& edges, Walk& walk) const;

  PageShape shape_;
  Places places_{};
  std::uint64_t exception_rows_ = 0;  // bit per row: it has exceptions
  std::vector<std::uint64_t> words_;
};

}  // namespace stackpack::spk
