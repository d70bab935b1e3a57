#include "spk/read/edge_table.h"

#include <algorithm>
#include <numeric>

namespace stackpack::spk {

std::uint64_t EdgeTable::memory_bytes() const {
  return sizeof *this +
         (tops_.capacity() + starts_.capacity() + fields_.capacity()) * sizeof(std::uint64_t);
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
  starts_.push_back(static_cast<std::uint32_t>(first));
  if (classes_.size() <= 1) {
    tops_.push_back(classes_.empty() ? frame_count_ : children_.back());
    children_.resize(first);
    classes_.clear();
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

}  // namespace stackpack::spk
