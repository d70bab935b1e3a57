#include "spk/edge_table.h"

#include <algorithm>
#include <numeric>

#include "io/byte_writer.h"

namespace stackpack::spk {

namespace {

constexpr std::size_t kFirstSlots = 1'024;
constexpr std::uint64_t kMaxClass = 64;

std::uint64_t key_of(std::uint32_t row, std::uint32_t child) {
  return (std::uint64_t{row} + 1) << 32 | child;
}

}  // namespace

std::uint64_t EdgeTable::memory_bytes() const {
  return sizeof *this +
         (tops_.capacity() + starts_.capacity() + fields_.capacity()) * sizeof(std::uint64_t);
}

Status EdgeTableBuilder::add_block(io::ByteCursor in) {
  const std::uint64_t first_row = read_varint(in);
  const std::uint64_t row_count = read_varint(in);
  const std::uint64_t total_rows = std::uint64_t{frame_count_} + 1;
  if (open_ && first_row == next_row_ + 1) {
    close_row();
  }
  if (!in.ok() || row_count == 0 || row_count > kEdgesPerBlock || first_row != next_row_ ||
      row_count > total_rows - first_row) {
    return in.corrupt("spk: edges: rows");
  }
  read_column(in, static_cast<std::size_t>(row_count), lengths_);
  if (!in.ok() || !read_block(in)) {
    return in.corrupt("spk: edges: columns");
  }
  for (std::uint64_t i = 0; i < row_count; ++i) {
    if (i > 0) {
      close_row();
    }
    open_ = true;
    if (!add_part(next_row_, static_cast<std::size_t>(lengths_[static_cast<std::size_t>(i)]))) {
      return in.corrupt("spk: edges: children");
    }
  }
  return {};
}

bool EdgeTableBuilder::read_block(io::ByteCursor& in) {
  std::size_t edges = 0;
  std::size_t parts = 0;
  std::size_t with_class = 0;
  for (const std::uint64_t length : lengths_) {
    if (length > kEdgesPerBlock - edges) {
      return false;
    }
    edges += static_cast<std::size_t>(length);
    parts += length > 0 ? 1 : 0;
    with_class += length > 1 ? static_cast<std::size_t>(length) : 0;
  }
  read_column(in, parts, firsts_);
  read_column(in, edges - parts, others_);
  read_column(in, with_class, block_classes_);
  first_at_ = 0;
  other_at_ = 0;
  class_at_ = 0;
  return in.ok() && in.remaining() == 0;
}

bool EdgeTableBuilder::add_part(std::uint64_t row, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    const bool row_begun = !classes_.empty();
    const std::uint64_t before = row_begun ? children_.back() : 0;
    std::uint64_t child = 0;
    if (i == 0) {
      child = row + static_cast<std::uint64_t>(io::zigzag_decode(firsts_[first_at_++]));
    } else {
      const std::uint64_t gap = others_[other_at_++];
      child = gap < frame_count_ ? before + gap + 1 : frame_count_;
    }
    const std::uint64_t edge_class = length > 1 ? block_classes_[class_at_++] : 0;
    if (child >= frame_count_ || (row_begun && child <= before) || edge_class > kMaxClass) {
      return false;
    }
    children_.push_back(static_cast<std::uint32_t>(child));
    classes_.push_back(static_cast<std::uint8_t>(edge_class));
  }
  return true;
}

void EdgeTableBuilder::close_row() {
  const std::size_t first = children_.size() - classes_.size();
  starts_.push_back(static_cast<std::uint32_t>(first));
  if (classes_.size() <= 1) {
    tops_.push_back(classes_.empty() ? frame_count_ : children_.back());
    children_.resize(first);
    classes_.clear();
    open_ = false;
    ++next_row_;
    return;
  }
  positions_.resize(children_.size());
  const auto ranked = positions_.begin() + static_cast<std::ptrdiff_t>(first);
  std::iota(ranked, positions_.end(), 0U);
  std::stable_sort(ranked, positions_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return classes_[a] > classes_[b]; });
  tops_.push_back(children_[first + *ranked]);
  longest_ = std::max(longest_, static_cast<std::uint32_t>(classes_.size()));
  classes_.clear();
  open_ = false;
  ++next_row_;
}

Result<EdgeTable> EdgeTableBuilder::finish() {
  if (open_) {
    close_row();
  }
  if (next_row_ != std::uint64_t{frame_count_} + 1) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: edges: rows are missing"};
  }
  EdgeTable table;
  table.row_count_ = static_cast<std::uint32_t>(next_row_);
  table.start_bits_ = bit_width_of(children_.size());
  table.child_bits_ = bit_width_of(frame_count_);
  table.child_mask_ = low_bits(table.child_bits_);
  table.field_bits_ = table.child_bits_ + bit_width_of(longest_);
  table.tops_.resize(words_for_bits(tops_.size() * table.child_bits_));
  for (std::size_t i = 0; i < tops_.size(); ++i) {
    write_bits(table.tops_, i * table.child_bits_, table.child_bits_, tops_[i]);
  }
  table.starts_.resize(words_for_bits((starts_.size() + 1) * table.start_bits_));
  starts_.push_back(static_cast<std::uint32_t>(children_.size()));
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    write_bits(table.starts_, i * table.start_bits_, table.start_bits_, starts_[i]);
  }
  table.fields_.resize(words_for_bits(children_.size() * table.field_bits_));
  for (std::size_t i = 0; i < children_.size(); ++i) {
    write_bits(table.fields_, i * table.field_bits_, table.field_bits_,
               std::uint64_t{positions_[i]} << table.child_bits_ | children_[i]);
  }
  return table;
}

EdgeCounter::EdgeCounter() : slots_(kFirstSlots) {}

std::size_t EdgeCounter::slot_of(std::uint64_t key) const {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::size_t slot = ((key * kMultiplier) >> 20) & (slots_.size() - 1);
  while (slots_[slot].key != 0 && slots_[slot].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void EdgeCounter::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.key != 0) {
      slots_[slot_of(slot.key)] = slot;
    }
  }
}

void EdgeCounter::add(std::uint32_t row, std::uint32_t child, bool first) {
  const std::uint64_t key = key_of(row, child);
  Slot& slot = slots_[slot_of(key)];
  slot.count += first ? 1 : 0;
  if (slot.key == 0) {
    slot.key = key;
    if (++used_ > slots_.size() / 4 * 3) {
      grow();
    }
  }
}

std::vector<CountedEdge> EdgeCounter::take() {
  std::vector<CountedEdge> edges;
  edges.reserve(used_);
  for (const Slot& slot : slots_) {
    if (slot.key != 0) {
      edges.push_back({static_cast<std::uint32_t>((slot.key >> 32) - 1),
                       static_cast<std::uint32_t>(slot.key), slot.count});
    }
  }
  slots_.assign(kFirstSlots, {});
  slots_.shrink_to_fit();
  used_ = 0;
  std::sort(edges.begin(), edges.end(), [](const CountedEdge& a, const CountedEdge& b) {
    return a.row != b.row ? a.row < b.row : a.child < b.child;
  });
  return edges;
}

void EdgeBlockEncoder::add_part(std::span<const CountedEdge> part) {
  lengths_.push_back(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (i == 0) {
      firsts_.push_back(io::zigzag_encode(std::int64_t{part[i].child} - std::int64_t{row_}));
    } else {
      others_.push_back(part[i].child - part[i - 1].child - 1);
    }
    if (part.size() > 1) {
      classes_.push_back(bit_width_of(part[i].first_count));
    }
  }
}

void EdgeBlockEncoder::encode(BlockContent& content) {
  lengths_.clear();
  firsts_.clear();
  others_.clear();
  classes_.clear();
  const std::uint32_t first_row = row_;
  std::size_t room = kEdgesPerBlock;
  while (row_ < row_count_ && lengths_.size() < kEdgesPerBlock) {
    const auto row_end = std::find_if(edges_.begin(), edges_.end(),
                                      [this](const CountedEdge& edge) { return edge.row != row_; });
    const auto length = static_cast<std::size_t>(row_end - edges_.begin());
    const std::size_t taken = std::min(length, room);
    add_part(edges_.first(taken));
    edges_ = edges_.subspan(taken);
    room -= taken;
    if (taken < length) {
      break;  // the row goes on in the next block
    }
    ++row_;
  }
  content.bytes().write_varint(first_row);
  content.bytes().write_varint(lengths_.size());
  write_column(lengths_, content);
  write_numbers(firsts_, content);
  write_numbers(others_, content);
  write_column(classes_, content);
}

}  // namespace stackpack::spk
