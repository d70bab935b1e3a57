#include "spk/resident_page.h"

#include <algorithm>

#include "spk/layout.h"

namespace stackpack::spk {

namespace {

static_assert(kNodesPerPage <= 64 * 64, "exception_words_ has a bit per 64 nodes");

constexpr std::size_t words_for_halves(std::size_t count) {
  return (count + 3) / 4;
}

// The relations of a node to the node before it. Computed without branches: which of them holds is
// as good as random.
bool is_child(std::span<const ResidentPage::Node> nodes, std::size_t node) {
  return nodes[node].parent + 1 == node;
}
bool is_sibling(std::span<const ResidentPage::Node> nodes, std::size_t node) {
  return (nodes[node].parent == nodes[node - (node > 0 ? 1 : 0)].parent) & (node > 0);
}

}  // namespace

ResidentPage::Places ResidentPage::places_of(const PageShape& shape) {
  const std::size_t bit_words = (std::size_t{shape.nodes} + 63) / 64;
  const std::size_t samples = (std::size_t{shape.stacks} + kStacksPerSample - 1) / kStacksPerSample;
  std::size_t at = bit_words;
  const auto place = [&at](std::size_t words) {
    const std::size_t begin = at;
    at += words;
    return static_cast<std::uint32_t>(begin);
  };
  Places places{};
  places.siblings = place(bit_words);
  places.parent_rank = place(words_for_halves(bit_words));
  places.stack_sample = place(words_for_halves(samples));
  places.exceptions = place(words_for_halves(shape.exceptions));
  places.frames = place(words_for_bits(std::size_t{shape.nodes} * shape.frame_bits));
  places.parents = place(words_for_bits(std::size_t{shape.parents} * parent_bits_of(shape)));
  places.spine = place(words_for_bits(std::size_t{shape.spine} * shape.frame_bits));
  places.total = static_cast<std::uint32_t>(at);
  return places;
}

std::uint64_t ResidentPage::bytes_of(const PageShape& shape) {
  return sizeof(ResidentPage) + places_of(shape).total * sizeof(std::uint64_t);
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
  BitAppender frames{std::span(words_).subspan(places_.frames)};
  std::vector<std::uint32_t> parents(std::size_t{shape_.parents} + 1);  // one to overwrite
  std::uint32_t parent_count = 0;
  for (std::size_t word = 0; word < bit_words(); ++word) {
    set_half_word(places_.parent_rank, word, parent_count);
    std::uint64_t continues = 0;
    std::uint64_t siblings = 0;
    const std::size_t end = std::min(nodes.size(), 64 * word + 64);
    for (std::size_t node = 64 * word; node < end; ++node) {
      frames.append(nodes[node].frame, shape_.frame_bits);
      const bool child = is_child(nodes, node);
      const bool sibling = is_sibling(nodes, node);
      continues |= std::uint64_t{child} << (node % 64);
      siblings |= std::uint64_t{sibling} << (node % 64);
      parents[parent_count] = nodes[node].parent;
      parent_count += child || sibling ? 0U : 1U;
    }
    words_[word] = continues;
    words_[places_.siblings + word] = siblings;
  }
  frames.finish();
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
  const std::uint64_t next = word + 1 < bit_words() ? words_[word + 1] << 63 : 0;
  std::uint64_t ends = ~((words_[word] >> 1) | next);
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
    const std::uint64_t others = ~words_[places_.siblings + node / 64] << (63 - node % 64);
    if (others != 0) {
      node -= static_cast<std::uint32_t>(std::countl_zero(others));
      break;
    }
    node -= node % 64 + 1;  // node 0 is no sibling, so there is a word before
  }
  const std::size_t word = node / 64;
  if (((words_[word] >> (node % 64)) & 1) != 0) {
    return node - 1;
  }
  const std::uint64_t with_parent = ~(words_[word] | words_[places_.siblings + word]);
  const std::size_t rank =
      half_word(places_.parent_rank, word) + count_bits(with_parent & low_bits(node % 64));
  return static_cast<std::uint32_t>(
      read_short_bits(bytes_from(places_.parents), rank * parent_bits_, low_bits(parent_bits_)));
}

void ResidentPage::append_stack(std::uint32_t stack, const FrameDictionary& dictionary,
                                std::vector<Frame>& frames) const {
  const std::uint64_t mask = low_bits(shape_.frame_bits);
  // Appends `count` frames, from place `last` of an array of dictionary indices downwards.
  const auto append = [&](std::span<const std::byte> array, std::size_t last, std::size_t count) {
    std::size_t bit = last * shape_.frame_bits;
    std::size_t at = frames.size();
    frames.resize(at + count);
    for (const std::size_t end = at + count; at < end; ++at, bit -= shape_.frame_bits) {
      frames[at] = dictionary[static_cast<std::uint32_t>(read_short_bits(array, bit, mask))];
    }
  };
  const std::span<const std::byte> node_frames = bytes_from(places_.frames);
  std::uint32_t node = node_of_stack(stack);
  while (node < shape_.nodes) {
    // Down to the nearest node that does not continue the one before it, or to the word's first.
    const std::uint64_t branches = ~words_[node / 64] << (63 - node % 64);
    const std::uint32_t steps =
        branches == 0 ? node % 64 : static_cast<std::uint32_t>(std::countl_zero(branches));
    append(node_frames, node, steps + 1);
    node -= steps;
    node = branches == 0 ? node - 1 : parent_of(node);
  }
  if (node > shape_.nodes) {
    const std::size_t level = node - shape_.nodes;
    append(bytes_from(places_.spine), level - 1, level);
  }
}

}  // namespace stackpack::spk
