#include "spk/read/resident_page.h"

#include <algorithm>
#include <array>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

static_assert(kNodesPerPage <= 64 * 64, "exception_words_ has a bit per 64 nodes");

constexpr std::size_t kIndexBuffer = 256;

constexpr std::size_t words_for_halves(std::size_t count) {
  return (count + 3) / 4;
}

// The relations of a node to the node before it. Computed without branches: which of them holds is
// as good as random.
bool is_child(std::span<const ResidentPage::Node> nodes, std::size_t node) {
  return nodes[node].parent + 1 == node;
}
bool is_named(std::span<const ResidentPage::Node> nodes, std::size_t node) {
  const int unnamed =
      int{is_child(nodes, node)} & int{nodes[node].top} & int{ResidentPage::may_be_unnamed(node)};
  return unnamed == 0;
}
bool is_sibling(std::span<const ResidentPage::Node> nodes, std::size_t node) {
  return (nodes[node].parent == nodes[node - (node > 0 ? 1 : 0)].parent) & (node > 0);
}

}  // namespace

ResidentPage::Places ResidentPage::places_of(const PageShape& shape) {
  const std::size_t bit_words = (std::size_t{shape.nodes} + 63) / 64;
  const std::size_t samples = (std::size_t{shape.stacks} + kStacksPerSample - 1) / kStacksPerSample;
  std::size_t at = bit_words * kWordsPerRow;
  const auto place = [&at](std::size_t words) {
    const std::size_t begin = at;
    at += words;
    return static_cast<std::uint32_t>(begin);
  };
  Places places{};
  places.stack_sample = place(words_for_halves(samples));
  places.exceptions = place(words_for_halves(shape.exceptions));
  places.frames = place(words_for_bits(std::size_t{shape.named} * shape.frame_bits));
  places.parents = place(words_for_bits(std::size_t{shape.parents} * parent_bits_of(shape)));
  places.spine = place(words_for_bits(std::size_t{shape.spine} * shape.frame_bits));
  places.total = static_cast<std::uint32_t>(at);
  return places;
}

ResidentPage::ResidentPage(std::span<const Node> nodes, std::span<const std::uint32_t> spine,
                           std::span<const std::uint32_t> exceptions, unsigned frame_bits) {
  shape_.nodes = static_cast<std::uint32_t>(nodes.size());
  shape_.spine = static_cast<std::uint32_t>(spine.size());
  shape_.exceptions = static_cast<std::uint32_t>(exceptions.size());
  shape_.frame_bits = frame_bits;
  std::uint32_t children = 0;
  std::uint32_t siblings = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    children += is_child(nodes, node) ? 1U : 0U;
    siblings += is_sibling(nodes, node) ? 1U : 0U;
    shape_.named += is_named(nodes, node) ? 1U : 0U;
  }
  shape_.parents = shape_.nodes - children - siblings;
  shape_.stacks = shape_.nodes - children;  // the leaves
  for (const std::uint32_t node : exceptions) {
    const bool leaf = node + 1 == nodes.size() || !is_child(nodes, node + 1);
    shape_.stacks = leaf ? shape_.stacks - 1 : shape_.stacks + 1;
  }
  places_ = places_of(shape_);
  parent_bits_ = parent_bits_of(shape_);
  words_.resize(places_.total);
  pack_nodes(nodes);
  BitAppender spine_frames{std::span(words_).subspan(places_.spine)};
  for (const std::uint32_t frame : spine) {
    spine_frames.append(frame, frame_bits);
  }
  spine_frames.finish();
  pack_exceptions(exceptions);
  sample_stacks();
}

void ResidentPage::pack_nodes(std::span<const Node> nodes) {
  std::vector<std::uint32_t> frames(std::size_t{shape_.named} + 1);  // one to overwrite
  std::uint32_t frame_count = 0;
  std::vector<std::uint32_t> parents(std::size_t{shape_.parents} + 1);
  std::uint32_t parent_count = 0;
  for (std::size_t word = 0; word < bit_words(); ++word) {
    bits(word, kRanks) = frame_count | std::uint64_t{parent_count} << kParentRankShift;
    std::uint64_t continues = 0;
    std::uint64_t names = 0;
    std::uint64_t siblings = 0;
    const std::size_t end = std::min(nodes.size(), 64 * word + 64);
    for (std::size_t node = 64 * word; node < end; ++node) {
      const bool child = is_child(nodes, node);
      const bool sibling = is_sibling(nodes, node);
      continues |= std::uint64_t{child} << (node % 64);
      siblings |= std::uint64_t{sibling} << (node % 64);
      const bool named = is_named(nodes, node);
      names |= std::uint64_t{named} << (node % 64);
      frames[frame_count] = nodes[node].frame;
      frame_count += named ? 1U : 0U;
      parents[parent_count] = nodes[node].parent;
      parent_count += child || sibling ? 0U : 1U;
    }
    bits(word, kContinues) = continues;
    bits(word, kSiblings) = siblings;
    bits(word, kNames) = names;
  }
  BitAppender packed_frames{std::span(words_).subspan(places_.frames)};
  for (std::uint32_t i = 0; i < frame_count; ++i) {
    packed_frames.append(frames[i], shape_.frame_bits);
  }
  packed_frames.finish();
  BitAppender packed_parents{std::span(words_).subspan(places_.parents)};
  for (std::uint32_t i = 0; i < parent_count; ++i) {
    packed_parents.append(parents[i], parent_bits_);
  }
  packed_parents.finish();
}

void ResidentPage::pack_exceptions(std::span<const std::uint32_t> exceptions) {
  for (std::size_t i = 0; i < exceptions.size(); ++i) {
    set_half_word(places_.exceptions, i, exceptions[i]);
    exception_words_ |= std::uint64_t{1} << (exceptions[i] / 64);
  }
}

void ResidentPage::sample_stacks() {
  std::uint32_t stack = 0;
  for (std::size_t word = 0; word < bit_words(); ++word) {
    const std::uint64_t ends = end_word(word);
    const unsigned count = count_bits(ends);
    // At most one in kStacksPerSample of them is sampled.
    std::uint32_t sampled = (stack + kStacksPerSample - 1) / kStacksPerSample * kStacksPerSample;
    for (; sampled < stack + count; sampled += kStacksPerSample) {
      set_half_word(places_.stack_sample, sampled / kStacksPerSample,
                    static_cast<std::uint32_t>(64 * word) + select_bit(ends, sampled - stack));
    }
    stack += count;
  }
}

// Bit i: a callstack ends at node 64 * word + i.
std::uint64_t ResidentPage::end_word(std::size_t word) const {
  // A node has a child here when the next node continues it. Bits past the last node are 0, so the
  // last node counts as a leaf.
  const std::uint64_t next = word + 1 < bit_words() ? bits(word + 1, kContinues) << 63 : 0;
  std::uint64_t ends = ~((bits(word, kContinues) >> 1) | next);
  if (word + 1 == bit_words() && shape_.nodes % 64 != 0) {
    ends &= low_bits(shape_.nodes % 64);
  }
  if (((exception_words_ >> word) & 1) == 0) {
    return ends;
  }
  std::size_t low = 0;  // the first exception in this word
  std::size_t high = shape_.exceptions;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (half_word(places_.exceptions, middle) < word * 64) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < shape_.exceptions; ++low) {
    const std::uint32_t node = half_word(places_.exceptions, low);
    if (node / 64 != word) {
      break;
    }
    ends ^= std::uint64_t{1} << (node % 64);
  }
  return ends;
}

bool ResidentPage::last_node_ends_stack() const {
  const std::uint32_t last = shape_.nodes - 1;
  return ((end_word(last / 64) >> (last % 64)) & 1) != 0;
}

std::uint32_t ResidentPage::node_of_stack(std::uint32_t stack) const {
  const std::uint32_t sample = half_word(places_.stack_sample, stack / kStacksPerSample);
  std::uint32_t rank = stack % kStacksPerSample;
  std::size_t word = sample / 64;
  std::uint64_t ends = end_word(word) & ~low_bits(sample % 64);
  for (unsigned count = count_bits(ends); count <= rank; count = count_bits(ends)) {
    rank -= count;
    ends = end_word(++word);
  }
  for (; rank > 0; --rank) {
    ends &= ends - 1;
  }
  return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(ends));
}

// The parent of a node that does not continue the node before it.
std::uint32_t ResidentPage::parent_of(std::uint32_t node) const {
  // Back over siblings to the first of them.
  while (true) {
    const std::uint64_t others = ~bits(node / 64, kSiblings) << (63 - node % 64);
    if (others != 0) {
      node -= static_cast<std::uint32_t>(std::countl_zero(others));
      break;
    }
    node -= node % 64 + 1;  // node 0 is no sibling, so there is a word before
  }
  const std::size_t word = node / 64;
  if (((bits(word, kContinues) >> (node % 64)) & 1) != 0) {
    return node - 1;
  }
  const std::uint64_t with_parent = ~(bits(word, kContinues) | bits(word, kSiblings));
  const std::size_t rank =
      (bits(word, kRanks) >> kParentRankShift) + count_bits(with_parent & low_bits(node % 64));
  return static_cast<std::uint32_t>(fields_from(places_.parents, parent_bits_)[rank]);
}

std::uint32_t ResidentPage::leaf_of(std::uint32_t stack, const EdgeTable& edges) const {
  const std::uint32_t node = node_of_stack(stack);
  const std::size_t word = node / 64;
  const std::uint64_t names = bits(word, kNames) << (63 - node % 64);
  const std::size_t rank =
      (bits(word, kRanks) & low_bits(kParentRankShift)) + count_bits(names) - 1;
  auto frame = static_cast<std::uint32_t>(fields_from(places_.frames, shape_.frame_bits)[rank]);
  for (int steps = std::countl_zero(names); steps > 0; --steps) {
    frame = static_cast<std::uint32_t>(edges.tops()[frame]);
  }
  return frame;
}

// Two passes over a few frames at a time: one follows the nodes, at the pace of its guesses about
// the next branch; the other fetches the frames, which do not depend on each other.
void ResidentPage::append_stack(std::uint32_t stack, const FrameDictionary& dictionary,
                                const EdgeTable& edges, std::vector<Frame>& frames) const {
  const FieldArray tops = edges.tops();
  const FieldArray named = fields_from(places_.frames, shape_.frame_bits);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled from the front
  std::array<std::uint32_t, kIndexBuffer> indices;
  std::size_t count = 0;
  const auto flush = [&] {
    const std::size_t at = frames.size();
    frames.resize(at + count);
    Frame* const out = frames.data() + at;
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = dictionary[indices.data()[i]];
    }
    count = 0;
  };
  std::uint32_t node = node_of_stack(stack);
  while (node < shape_.nodes) {
    // Back to the nearest node that names its frame, in this word of bits; from there on each frame
    // is the top child of the one before.
    const std::size_t word = node / 64;
    const std::uint64_t names = bits(word, kNames) << (63 - node % 64);
    const auto steps = static_cast<std::uint32_t>(std::countl_zero(names));
    const std::size_t rank =
        (bits(word, kRanks) & low_bits(kParentRankShift)) + count_bits(names) - 1;
    if (count + 64 > kIndexBuffer) {
      flush();
    }
    std::uint32_t* at = indices.data() + count + steps;
    count += steps + 1;
    auto frame = static_cast<std::uint32_t>(named[rank]);
    *at = frame;
    for (std::uint32_t step = 0; step < steps; ++step) {
      frame = static_cast<std::uint32_t>(tops[frame]);
      *--at = frame;
    }
    node -= steps;
    node = ((bits(word, kContinues) >> (node % 64)) & 1) != 0 ? node - 1 : parent_of(node);
  }
  flush();
  if (node > shape_.nodes) {
    const FieldArray spine = fields_from(places_.spine, shape_.frame_bits);
    for (std::size_t level = node - shape_.nodes; level-- > 0;) {
      frames.push_back(dictionary[static_cast<std::uint32_t>(spine[level])]);
    }
  }
}

}  // namespace stackpack::spk
