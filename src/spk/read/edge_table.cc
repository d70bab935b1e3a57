#include "spk/read/edge_table.h"

#include <algorithm>
#include <numeric>

namespace stackpack::spk {

namespace {

std::vector<std::uint64_t> packed_values(const std::vector<std::uint32_t>& values, unsigned width) {
  std::vector<std::uint64_t> words(words_for_bits(values.size() * width));
  BitAppender out(words);
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
  return sizeof *this + bytes_of(tops_) + bytes_of(several_) + bytes_of(starts_) +
         bytes_of(children_) + bytes_of(positions_) + bytes_of(long_rows_) +
         bytes_of(long_positions_);
}

std::uint32_t EdgeTable::long_position(const EdgeRow& row, std::uint32_t rank) const {
  const auto found =
      std::lower_bound(long_rows_.begin(), long_rows_.end(), row.first,
                       [](const LongRow& one, std::uint64_t first) { return one.first < first; });
  return long_positions_.data()[found->place + rank];
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
  several_.push_back(static_cast<std::uint32_t>(tops_.size()));
  starts_.push_back(static_cast<std::uint32_t>(first));
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
  table.start_bits_ = bit_width_of(children_.size());
  table.child_bits_ = bit_width_of(frame_count_);
  table.tops_ = packed_values(tops_, table.child_bits_);
  table.children_ = packed_values(children_, table.child_bits_);
  table.several_.resize(tops_.size() / 64 + 1);
  for (const std::uint32_t row : several_) {
    table.several_[row / 64].rows |= std::uint64_t{1} << (row % 64);
  }
  std::uint32_t before = 0;
  for (EdgeTable::Several& several : table.several_) {
    several.before = before;
    before += count_bits(several.rows);
  }
  add_positions(table);
  starts_.push_back(static_cast<std::uint32_t>(children_.size()));
  starts_.push_back(starts_.back());  // so that a row after the last of several has a start
  table.starts_ = packed_values(starts_, table.start_bits_);
  return table;
}

// Before the end is added to starts_.
void EdgeTableBuilder::add_positions(EdgeTable& table) const {
  table.positions_.resize(positions_.size() + 1);  // one to read where there is none
  std::transform(positions_.begin(), positions_.end(), table.positions_.begin(),
                 [](std::uint32_t position) { return static_cast<std::uint8_t>(position); });
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const std::size_t first = starts_[i];
    const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : children_.size();
    if (end - first > EdgeTable::kShortRow) {
      table.long_rows_.push_back({first, table.long_positions_.size()});
      table.long_positions_.insert(table.long_positions_.end(),
                                   positions_.begin() + static_cast<std::ptrdiff_t>(first),
                                   positions_.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  table.long_positions_.shrink_to_fit();
  table.long_rows_.shrink_to_fit();
}

}  // namespace stackpack::spk
