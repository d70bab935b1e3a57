#include "spk/read/page_packer.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stackpack::spk {

namespace {

// A block's path is kept from the spine on when there are no more frames below it.
constexpr std::uint32_t kMostFromSpine = 64;

// Calls `visit(number of the bit)` for each bit that is set.
template <typename Visit>
void for_each_bit(std::uint64_t word, Visit visit) {
  for (; word != 0; word &= word - 1) {
    visit(static_cast<std::uint32_t>(std::countr_zero(word)));
  }
}

template <typename T>
void store(std::span<std::uint64_t> words, std::size_t index, const T& value) {
  std::memcpy(std::as_writable_bytes(words).data() + index * sizeof value, &value, sizeof value);
}

}  // namespace

ResidentPage PagePacker::pack(std::span<const Node> nodes, std::span<const std::uint32_t> spine,
                              std::span<const std::uint32_t> exceptions,
                              const FrameDictionary& dictionary, const EdgeTable& edges) {
  nodes_ = nodes;
  spine_ = spine;
  shape_ = {};
  shape_.nodes = static_cast<std::uint32_t>(nodes.size());
  shape_.spine = static_cast<std::uint32_t>(spine.size());
  shape_.exceptions = static_cast<std::uint32_t>(exceptions.size());
  shape_.frame_bits = core::bit_width_of(dictionary.size());
  shape_.inner_bits = edges.inner_bits();
  resolve_outer(dictionary);
  make_rows();
  make_paths();
  measure_nodes();
  // Of the leaves only the last node can be an exception.
  const std::uint32_t last = shape_.nodes - 1;
  const bool last_too = !exceptions.empty() && exceptions.back() == last;
  shape_.stacks += shape_.exceptions - (last_too ? 2 : 0);

  ResidentPage page;
  page.shape_ = shape_;
  page.places_ = ResidentPage::places_of(shape_);
  page.words_.resize(page.places_.total);
  put_exceptions(page, exceptions);
  put_names(page);
  put_parents(page);
  put_paths(page);
  put_rows(page);
  return page;
}

void PagePacker::resolve_outer(const FrameDictionary& dictionary) {
  shape_.outer = std::min(shape_.spine, ResidentPage::kMostOuter);
  outer_.clear();
  for (const std::uint32_t frame : spine_.first(shape_.outer)) {
    outer_.push_back(dictionary[frame]);
    shape_.outer_mode = outer_.front().mode;
    shape_.mixed_modes = shape_.mixed_modes || outer_.back().mode != shape_.outer_mode;
  }
}

// How each node stands to the node before it. Computed without branches: which relation holds is as
// good as random.
void PagePacker::make_rows() {
  rows_.assign((row_count() + 1) * ResidentPage::kWordsPerRow, 0);
  depths_.resize(nodes_.size());
  std::uint32_t sibling_of = shape_.nodes;  // a parent; no parent of the first node is below it
  for (std::size_t begin = 0; begin < nodes_.size(); begin += 64) {
    std::uint64_t continues = 0;
    std::uint64_t marks = 0;
    const std::size_t end = std::min(nodes_.size(), begin + 64);
    for (std::size_t at = begin; at < end; ++at) {
      const Node& node = nodes_[at];
      const bool child = node.parent + 1 == at;
      const bool sibling = (at > 0) & (node.parent == sibling_of);
      const bool unnamed = node.top & (at % 64 != 0);
      const bool mark = child ? !unnamed : !sibling;
      continues |= std::uint64_t{child} << (at % 64);
      marks |= std::uint64_t{mark} << (at % 64);
      sibling_of = node.parent;
      const bool inside = node.parent < shape_.nodes;
      depths_[at] = 1 + (inside ? depths_[node.parent] : node.parent - shape_.nodes);
    }
    rows_[begin / 64 * ResidentPage::kWordsPerRow] = continues;
    rows_[begin / 64 * ResidentPage::kWordsPerRow + 1] = marks;
  }
}

// As explicit parents are kept.
std::uint32_t PagePacker::place_of_parent(std::uint32_t node) const {
  const std::uint32_t begin = node - node % ResidentPage::kBlockNodes;
  const std::uint32_t parent = nodes_[node].parent;
  return parent >= begin && parent < shape_.nodes ? parent - begin
                                                  : ResidentPage::kBlockNodes + depths_[node] - 1;
}

// How many of the nodes above `node` are in the page and not below `lowest`, counted up to `most`.
std::uint32_t PagePacker::nodes_above(std::uint32_t node, std::uint32_t lowest,
                                      std::uint32_t most) const {
  std::uint32_t count = 0;
  for (node = nodes_[node].parent; node < shape_.nodes && node >= lowest && count < most; ++count) {
    node = nodes_[node].parent;
  }
  return count;
}

// The path of every block but the first, which has the spine.
void PagePacker::make_paths() {
  constexpr std::uint32_t kBlockNodes = ResidentPage::kBlockNodes;
  paths_.assign((nodes_.size() + kBlockNodes - 1) / kBlockNodes + 1, {});
  block_frames_.clear();
  for (std::uint32_t block = 1; block + 1 < paths_.size(); ++block) {
    const std::uint32_t first = block * kBlockNodes;
    BlockPath& path = paths_[block];
    path.begin = static_cast<std::uint32_t>(block_frames_.size());
    path.previous = nodes_above(first, 0, kMostFromSpine + 1) > kMostFromSpine;
    path.own = nodes_above(first, path.previous ? first - kBlockNodes : 0, shape_.nodes);
    path.shared = depths_[first] - 1 - path.own;
    block_frames_.resize(block_frames_.size() + path.own);
    std::uint32_t node = first;
    for (std::size_t at = block_frames_.size(); at-- > path.begin;) {
      node = nodes_[node].parent;
      block_frames_[at] = nodes_[node].frame;
    }
  }
  paths_.back().begin = static_cast<std::uint32_t>(block_frames_.size());
  shape_.block_frames = paths_.back().begin;
}

// What decides the places of the arrays.
void PagePacker::measure_nodes() {
  std::uint32_t highest_parent = 0;
  for (std::size_t i = 0; i < row_count(); ++i) {
    const std::uint64_t inside = inside_of(i);
    const ResidentPage::Row bits = row(i);
    rows_[i * ResidentPage::kWordsPerRow + 2] =
        shape_.indexed | std::uint64_t{shape_.coded} << 16 | std::uint64_t{shape_.parents} << 32;
    const std::uint64_t coded = bits.named() & bits.leaves() & inside;
    shape_.indexed += core::count_bits(bits.named() & ~bits.leaves() & inside);
    shape_.coded += core::count_bits(coded);
    shape_.parents += core::count_bits(bits.with_parent());
    shape_.stacks += core::count_bits(bits.leaves() & inside);
    for_each_bit(coded, [&](std::uint32_t bit) {
      shape_.far_codes += nodes_[64 * i + bit].position >= ResidentPage::kFarCode ? 1U : 0U;
    });
    for_each_bit(bits.with_parent(), [&](std::uint32_t bit) {
      const auto node = static_cast<std::uint32_t>(64 * i + bit);
      highest_parent = std::max(highest_parent, place_of_parent(node));
    });
  }
  shape_.parent_bits = core::bit_width_of(highest_parent);
}

void PagePacker::put_exceptions(ResidentPage& page,
                                std::span<const std::uint32_t> exceptions) const {
  const std::span<std::uint64_t> words = std::span(page.words_).subspan(page.places_.exceptions);
  for (std::size_t i = 0; i < exceptions.size(); ++i) {
    store(words, i, static_cast<std::uint16_t>(exceptions[i]));
    page.exception_rows_ |= std::uint64_t{1} << (exceptions[i] / 64);
  }
}

void PagePacker::put_names(ResidentPage& page) const {
  const std::span<std::uint64_t> words(page.words_);
  core::BitAppender indexed(words.subspan(page.places_.frames));
  core::BitAppender far_frames(words.subspan(page.places_.far_frames));
  std::size_t coded = 0;
  std::size_t far_codes = 0;
  for (std::size_t i = 0; i < row_count(); ++i) {
    const std::uint64_t named = row(i).named() & inside_of(i);
    for_each_bit(named & ~row(i).leaves(), [&](std::uint32_t bit) {
      indexed.append(nodes_[64 * i + bit].frame, shape_.inner_bits);
    });
    for_each_bit(named & row(i).leaves(), [&](std::uint32_t bit) {
      const std::size_t at = 64 * i + bit;
      const std::uint32_t code = std::min(nodes_[at].position, ResidentPage::kFarCode);
      store(words.subspan(page.places_.codes), coded++, static_cast<std::uint8_t>(code));
      if (code == ResidentPage::kFarCode) {
        store(words.subspan(page.places_.far_nodes), far_codes++, static_cast<std::uint16_t>(at));
        far_frames.append(nodes_[at].frame, shape_.frame_bits);
      }
    });
  }
  indexed.finish();
  far_frames.finish();
}

void PagePacker::put_parents(ResidentPage& page) const {
  core::BitAppender parents(std::span(page.words_).subspan(page.places_.parents));
  for (std::size_t i = 0; i < row_count(); ++i) {
    for_each_bit(row(i).with_parent(), [&](std::uint32_t bit) {
      parents.append(place_of_parent(static_cast<std::uint32_t>(64 * i + bit)), shape_.parent_bits);
    });
  }
  parents.finish();
}

void PagePacker::put_paths(ResidentPage& page) const {
  const std::span<std::uint64_t> words(page.words_);
  for (std::size_t block = 0; block < paths_.size(); ++block) {
    const BlockPath& path = paths_[block];
    const std::uint32_t packed = path.begin |
                                 (path.previous ? 1U : 0U) << ResidentPage::kBeginBits |
                                 path.shared << (ResidentPage::kBeginBits + 1);
    store(words.subspan(page.places_.paths), block, packed);
  }
  for (std::size_t i = 0; i < outer_.size(); ++i) {
    store(words.subspan(page.places_.outer), i, outer_[i].address);
    if (shape_.mixed_modes) {
      store(words.subspan(page.places_.outer_modes), i, outer_[i].mode);
    }
  }
  core::BitAppender spine(words.subspan(page.places_.spine));
  for (const std::uint32_t frame : spine_) {
    spine.append(frame, shape_.inner_bits);
  }
  spine.finish();
  core::BitAppender own(words.subspan(page.places_.block_frames));
  for (const std::uint32_t frame : block_frames_) {
    own.append(frame, shape_.inner_bits);
  }
  own.finish();
}

// Last: which callstacks end is read from the page.
void PagePacker::put_rows(ResidentPage& page) const {
  const std::span<std::uint64_t> words(page.words_);
  std::copy(rows_.begin(), rows_.end(), words.begin());
  std::uint32_t stacks = 0;
  for (std::size_t i = 0; i <= row_count(); ++i) {
    words[i * ResidentPage::kWordsPerRow + 2] |= std::uint64_t{stacks} << 48;
    if (i == row_count()) {
      break;
    }
    const std::uint32_t before = stacks;
    stacks += core::count_bits(page.end_word(i));
    std::uint32_t hint = (before + ResidentPage::kStacksPerHint - 1) / ResidentPage::kStacksPerHint;
    for (; hint * ResidentPage::kStacksPerHint < stacks; ++hint) {
      store(words.subspan(page.places_.hints), hint, static_cast<std::uint8_t>(i));
    }
  }
}

}  // namespace stackpack::spk
