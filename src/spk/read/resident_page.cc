#include "spk/read/resident_page.h"

#include <algorithm>

namespace stackpack::spk {

namespace {

static_assert(kNodesPerPage <= 64 * 64, "exception_rows_ has a bit per 64 nodes");

constexpr std::size_t words_for_bytes(std::size_t bytes) {
  return (bytes + 7) / 8;
}

}  // namespace

ResidentPage::Places ResidentPage::places_of(const PageShape& shape) {
  const std::size_t rows = (std::size_t{shape.nodes} + 63) / 64 + 1;
  const std::size_t blocks = (std::size_t{shape.nodes} + kBlockNodes - 1) / kBlockNodes;
  const std::size_t hints = (std::size_t{shape.stacks} + kStacksPerHint - 1) / kStacksPerHint;
  std::size_t at = rows * kWordsPerRow;
  const auto place = [&at](std::size_t words) {
    const std::size_t begin = at;
    at += words;
    return static_cast<std::uint32_t>(begin);
  };
  const auto fields = [&](std::size_t count, unsigned width) {
    // Without the word that core::words_for_bits() has to spare; there is one after all of them.
    return place(core::words_for_bits(count * width) - 1);
  };
  Places places{};
  places.hints = place(words_for_bytes(hints));
  places.exceptions = place(words_for_bytes(2 * std::size_t{shape.exceptions}));
  places.codes = place(words_for_bytes(shape.coded));
  places.far_nodes = place(words_for_bytes(2 * std::size_t{shape.far_codes}));
  places.paths = place(words_for_bytes(4 * (blocks + 1)));
  places.far_frames = fields(shape.far_codes, shape.frame_bits);
  places.frames = fields(shape.indexed, shape.inner_bits);
  places.outer = place(shape.outer);
  places.outer_modes = place(words_for_bytes(shape.mixed_modes ? shape.outer : 0));
  places.spine = fields(shape.spine, shape.inner_bits);
  places.block_frames = fields(shape.block_frames, shape.inner_bits);
  places.parents = fields(shape.parents, shape.parent_bits);
  places.total = static_cast<std::uint32_t>(at + 1);
  return places;
}

// Bit i: a callstack ends at node 64 * number + i.
std::uint64_t ResidentPage::end_word(std::size_t number) const {
  std::uint64_t ends = row(number).leaves();
  if (number + 1 == row_count() && shape_.nodes % 64 != 0) {
    ends &= core::low_bits(shape_.nodes % 64);
  }
  if (((exception_rows_ >> number) & 1) == 0) {
    return ends;
  }
  for (std::uint32_t i = 0; i < shape_.exceptions; ++i) {
    const auto node = load<std::uint16_t>(places_.exceptions, i);
    ends ^= node / 64U == number ? std::uint64_t{1} << (node % 64) : 0;
  }
  return ends;
}

bool ResidentPage::last_node_ends_stack() const {
  const std::uint32_t last = shape_.nodes - 1;
  return ((end_word(last / 64) >> (last % 64)) & 1) != 0;
}

std::uint32_t ResidentPage::node_of_stack(std::uint32_t stack) const {
  std::size_t number = load<std::uint8_t>(places_.hints, stack / kStacksPerHint);
  while (row(number + 1).stacks() <= stack) {
    ++number;
  }
  return static_cast<std::uint32_t>(64 * number) +
         core::select_bit(end_word(number), stack - row(number).stacks());
}

ResidentPage::BlockPath ResidentPage::path_of(std::uint32_t block) const {
  if (block == 0) {
    return {0, shape_.spine, 0, false};
  }
  const auto packed = load<std::uint32_t>(places_.paths, block);
  const auto begin = static_cast<std::uint32_t>(packed & core::low_bits(kBeginBits));
  const auto end = static_cast<std::uint32_t>(load<std::uint32_t>(places_.paths, block + 1) &
                                              core::low_bits(kBeginBits));
  return {begin, end - begin, packed >> (kBeginBits + 1), ((packed >> kBeginBits) & 1) != 0};
}

// The frame at a level above 0 of a block's path.
std::uint32_t ResidentPage::path_frame(std::uint32_t block, std::uint32_t level) const {
  while (block > 0) {
    const BlockPath path = path_of(block);
    if (level > path.shared) {
      return static_cast<std::uint32_t>(
          frames_from(places_.block_frames)[path.begin + level - path.shared - 1]);
    }
    block = path.previous ? block - 1 : 0;
  }
  return static_cast<std::uint32_t>(frames_from(places_.spine)[level - 1]);
}

// The parent of a node, as explicit parents are kept.
std::uint32_t ResidentPage::above(std::uint32_t node) const {
  // Back over siblings to the first of them in the block.
  while (true) {
    const Row bits = row(node / 64);
    const std::uint64_t first = node % kBlockNodes < 64 ? 1 : 0;
    const std::uint64_t others = (~bits.siblings() | first) << (63 - node % 64);
    if (others != 0) {
      node -= static_cast<std::uint32_t>(std::countl_zero(others));
      break;
    }
    node -= node % 64 + 1;
  }
  const Row bits = row(node / 64);
  const std::uint32_t local = node % kBlockNodes;
  if (local == 0) {
    return kBlockNodes + path_of(node / kBlockNodes).length();
  }
  if (((bits.continues() >> (node % 64)) & 1) != 0) {
    return local - 1;
  }
  const std::size_t rank =
      bits.parents() + core::count_bits(bits.with_parent() & core::low_bits(node % 64));
  return static_cast<std::uint32_t>(fields_from(places_.parents, shape_.parent_bits)[rank]);
}

// The frame of a leaf that names it by position.
std::uint32_t ResidentPage::coded_frame(std::uint32_t node, std::uint32_t parent_frame,
                                        const EdgeTable& edges) const {
  const Row bits = row(node / 64);
  const std::uint64_t coded = bits.named() & bits.leaves();
  const std::size_t rank = bits.coded() + core::count_bits(coded & core::low_bits(node % 64));
  const std::uint32_t code = load<std::uint8_t>(places_.codes, rank);
  if (code != kFarCode) {
    return edges.child(edges[parent_frame], code);
  }
  std::size_t low = 0;
  for (std::size_t high = shape_.far_codes; high - low > 1;) {
    const std::size_t middle = (low + high) / 2;
    const bool before = load<std::uint16_t>(places_.far_nodes, middle) <= node;
    low = before ? middle : low;
    high = before ? high : middle;
  }
  return static_cast<std::uint32_t>(fields_from(places_.far_frames, shape_.frame_bits)[low]);
}

void ResidentPage::walk(std::uint32_t stack, const EdgeTable& edges, Walk& walk) const {
  const core::FieldArray tops = edges.tops();
  const core::FieldArray indexed = frames_from(places_.frames);
  const std::uint32_t end = node_of_stack(stack);
  const std::uint32_t begin = end - end % kBlockNodes;
  const Row last = row(end / 64);
  const std::uint64_t coded = last.named() & last.leaves();
  const bool by_position = ((coded >> (end % 64)) & 1) != 0;
  std::uint32_t count = by_position ? 1 : 0;
  std::uint32_t place = by_position ? above(end) : end - begin;
  while (place < kBlockNodes) {
    // Back to the nearest node that names its frame, in this row; from there on each frame is the
    // top child of the one before. None of them but the last has no child: leaves name their frames
    // by position or not at all.
    const std::uint32_t node = begin + place;
    const Row bits = row(node / 64);
    const std::uint64_t named = bits.named() << (63 - node % 64);
    const auto steps = static_cast<std::uint32_t>(std::countl_zero(named));
    const std::uint64_t by_index = (bits.named() & ~bits.leaves()) << (63 - node % 64);
    auto frame =
        static_cast<std::uint32_t>(indexed[bits.indexed() + core::count_bits(by_index) - 1]);
    std::uint32_t* at = walk.frames.data() + count + steps;
    count += steps + 1;
    *at = frame;
    for (std::uint32_t step = 0; step < steps; ++step) {
      frame = static_cast<std::uint32_t>(tops[frame]);
      *--at = frame;
    }
    const std::uint32_t first = node - steps;
    const bool continues = ((bits.continues() >> (first % 64)) & 1) != 0 && first != begin;
    place = continues ? first - begin - 1 : above(first);
  }
  walk.count = count;
  walk.block = begin / kBlockNodes;
  walk.level = place - kBlockNodes;
  if (by_position) {
    const std::uint32_t parent = count > 1        ? walk.frames.data()[1]
                                 : walk.level > 0 ? path_frame(walk.block, walk.level)
                                                  : edges.root();
    walk.frames.data()[0] = coded_frame(end, parent, edges);
  }
}

std::uint32_t ResidentPage::leaf_of(std::uint32_t stack, const EdgeTable& edges) const {
  Walk found;
  walk(stack, edges, found);
  return found.frames.front();
}

// First the nodes are followed, at the pace of guesses about the next branch; then frames are
// fetched, which do not depend on each other.
void ResidentPage::read_stack(std::uint32_t stack, const FrameDictionary& dictionary,
                              const EdgeTable& edges, std::vector<Frame>& frames) const {
  Walk found;
  walk(stack, edges, found);
  frames.resize(std::size_t{found.count} + found.level);
  Frame* out = frames.data();
  const FrameDictionary::Lookup lookup = dictionary.lookup();
  for (std::uint32_t i = 0; i < found.count; ++i) {
    *out++ = lookup[found.frames.data()[i]];
  }
  std::uint32_t level = found.level;
  const auto put_until = [&](const core::FieldArray& packed, std::uint32_t end,
                             std::uint32_t begin) {
    for (; level > begin; --level) {
      *out++ = lookup[static_cast<std::uint32_t>(packed[level - 1 + end])];
    }
  };
  for (std::uint32_t block = found.block; block > 0;) {
    const BlockPath path = path_of(block);
    put_until(frames_from(places_.block_frames), path.begin - path.shared, path.shared);
    block = path.previous ? block - 1 : 0;
  }
  put_until(frames_from(places_.spine), 0, shape_.outer);
  for (; level > 0; --level) {
    out->mode =
        shape_.mixed_modes ? load<FrameMode>(places_.outer_modes, level - 1) : shape_.outer_mode;
    out->address = load<std::uint64_t>(places_.outer, level - 1);
    ++out;
  }
}

}  // namespace stackpack::spk
