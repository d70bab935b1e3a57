#include "spk/read/edge_table.h"

#include <algorithm>
#include <numeric>

namespace stackpack::spk {

namespace {

std::vector<std::uint64_t> packed_values(const std::vector<std::uint32_t>& values, unsigned width) {
  std::vector<std::uint64_t> words(core::words_for_bits(values.size() * width));
  core::BitAppender out(words);
  for (const std::uint32_t value : values) {
    out.append(value, width);
  }
  out.finish();
  return words;
}

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

}  // namespace

std::uint64_t EdgeTable::memory_bytes() const {
  return sizeof *this + bytes_of(tops_) + bytes_of(starts_) + bytes_of(children_) +
         bytes_of(long_positions_) + bytes_of(positions_);
}

Status EdgeTableBuilder::add_block(bytes::ByteCursor in) {
  const auto edges = decoder_.decode(in);
  if (!edges) {
    return edges.error();
  }
  edge_count_ += edges->size();
  for (const ClassedEdge& edge : *edges) {
    while (tops_.size() < edge.row) {
      close_row();
    }
    children_.push_back(edge.child);
    classes_.push_back(edge.edge_class);
  }
  return {};
}

void EdgeTableBuilder::close_row() {
  const std::size_t first = children_.size() - classes_.size();
  if (classes_.size() <= 1) {
    tops_.push_back(classes_.empty() ? frame_count_ : children_.back());
    children_.resize(first);
    classes_.clear();
    return;
  }
  several_.push_back({static_cast<std::uint32_t>(tops_.size()), static_cast<std::uint32_t>(first),
                      static_cast<std::uint32_t>(classes_.size())});
  positions_.resize(children_.size());
  const auto ranked = positions_.begin() + static_cast<std::ptrdiff_t>(first);
  std::iota(ranked, positions_.end(), 0U);
  std::stable_sort(ranked, positions_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return classes_[a] > classes_[b]; });
  tops_.push_back(children_[first + *ranked]);
  classes_.clear();
}

Result<EdgeTable> EdgeTableBuilder::finish() {
  if (!decoder_.complete()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: edges: rows are missing"};
  }
  while (tops_.size() < std::size_t{frame_count_} + 1) {
    close_row();
  }
  EdgeTable table;
  table.row_count_ = frame_count_ + 1;
  table.child_bits_ = core::bit_width_of(frame_count_);
  sort_rows();
  number_frames(table);
  put_tops(table);
  put_several(table);
  numbers_ = {};
  return table;
}

// Rows with several children: the long ones first, the root's at the end that it has no other row
// between it and outside.
void EdgeTableBuilder::sort_rows() {
  const auto key = [this](const Row& row) {
    const bool root = row.number == frame_count_;
    return row.size > EdgeTable::kShortRow ? (root ? 0 : 1) : (root ? 3 : 2);
  };
  std::stable_sort(several_.begin(), several_.end(),
                   [&key](const Row& a, const Row& b) { return key(a) < key(b); });
}

// Those with several children, those with one, those with none.
void EdgeTableBuilder::number_frames(EdgeTable& table) {
  numbers_.assign(frame_count_, frame_count_);
  order_.clear();
  order_.reserve(frame_count_);
  const auto add = [this](std::uint32_t frame) {
    numbers_[frame] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(frame);
  };
  for (const Row& row : several_) {
    if (row.number < frame_count_) {
      add(row.number);
    }
  }
  table.several_ = static_cast<std::uint32_t>(order_.size());
  for (const bool parents : {true, false}) {
    for (std::uint32_t frame = 0; frame < frame_count_; ++frame) {
      if (numbers_[frame] == frame_count_ && (tops_[frame] < frame_count_) == parents) {
        add(frame);
      }
    }
    table.parents_ = parents ? static_cast<std::uint32_t>(order_.size()) : table.parents_;
  }
}

void EdgeTableBuilder::put_tops(EdgeTable& table) const {
  std::vector<std::uint32_t> tops;
  tops.reserve(table.parents_);
  for (std::uint32_t number = 0; number < table.parents_; ++number) {
    tops.push_back(numbers_[tops_[order_[number]]]);
  }
  table.tops_ = packed_values(tops, table.child_bits_);
  const std::uint32_t root_top = tops_.back();
  const bool has_children = root_top < frame_count_;
  table.root_ = {0, has_children ? 1U : 0U, has_children ? numbers_[root_top] : frame_count_};
}

void EdgeTableBuilder::put_several(EdgeTable& table) const {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> long_positions;
  std::vector<std::uint32_t> positions;
  starts.reserve(several_.size() + 1);
  children.reserve(children_.size());
  std::uint32_t longest = 0;
  std::size_t end = 0;  // of the rows of frames
  for (const Row& row : several_) {
    const bool root = row.number == frame_count_;
    const bool is_long = row.size > EdgeTable::kShortRow;
    if (root) {
      table.root_.first = children.size();
      table.root_.size = row.size;
    } else {
      starts.push_back(static_cast<std::uint32_t>(children.size()));
    }
    longest = is_long ? std::max(longest, row.size) : longest;
    std::vector<std::uint32_t>& ranked = is_long ? long_positions : positions;
    for (std::uint32_t at = row.first; at < row.first + row.size; ++at) {
      children.push_back(numbers_[children_[at]]);
      ranked.push_back(positions_[at]);
    }
    end = root ? end : children.size();
  }
  starts.push_back(static_cast<std::uint32_t>(end));
  table.start_bits_ = core::bit_width_of(children.size());
  table.starts_ = packed_values(starts, table.start_bits_);
  table.children_ = packed_values(children, table.child_bits_);
  table.long_children_ = long_positions.size();
  table.long_bits_ = longest == 0 ? 0 : core::bit_width_of(longest - 1);
  table.long_positions_ = packed_values(long_positions, table.long_bits_);
  table.positions_ = packed_values(positions, EdgeTable::kPositionBits);
}

}  // namespace stackpack::spk
