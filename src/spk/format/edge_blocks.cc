#include "spk/format/edge_blocks.h"

#include "bytes/byte_writer.h"
#include "core/bit_array.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

void EdgeBlockEncoder::add_part() {
  lengths_.push_back(part_.size());
  for (std::size_t i = 0; i < part_.size(); ++i) {
    if (i == 0) {
      firsts_.push_back(bytes::zigzag_encode(std::int64_t{part_[i].child} - std::int64_t{row_}));
    } else {
      others_.push_back(part_[i].child - part_[i - 1].child - 1);
    }
    if (part_.size() > 1) {
      classes_.push_back(core::bit_width_of(part_[i].first_count));
    }
  }
  part_.clear();
}

Status EdgeBlockEncoder::close_row() {
  add_part();
  ++row_;
  return lengths_.size() < kEdgesPerBlock ? Status() : end_block();
}

Status EdgeBlockEncoder::end_block() {
  content_.clear();
  content_.bytes().write_varint(first_row_);
  content_.bytes().write_varint(lengths_.size());
  write_column(lengths_, content_);
  write_numbers(firsts_, content_);
  write_numbers(others_, content_);
  write_column(classes_, content_);
  for (auto* const column : {&lengths_, &firsts_, &others_, &classes_}) {
    column->clear();
  }
  edges_in_block_ = 0;
  first_row_ = row_;
  return emit_(content_);
}

Status EdgeBlockEncoder::add(const CountedEdge& edge) {
  while (row_ < edge.row) {
    if (const Status closed = close_row(); !closed) {
      return closed;
    }
  }
  if (edges_in_block_ == kEdgesPerBlock) {
    add_part();  // the row goes on in the next block
    if (const Status ended = end_block(); !ended) {
      return ended;
    }
  }
  part_.push_back(edge);
  ++edges_in_block_;
  return {};
}

Status EdgeBlockEncoder::finish() {
  while (row_ < row_count_) {
    if (const Status closed = close_row(); !closed) {
      return closed;
    }
  }
  return lengths_.empty() ? Status() : end_block();
}

Result<std::span<const ClassedEdge>> EdgeBlockDecoder::decode(bytes::ByteCursor in) {
  const std::uint64_t first_row = read_varint(in);
  const std::uint64_t row_count = read_varint(in);
  const std::uint64_t total_rows = std::uint64_t{frame_count_} + 1;
  const auto close_row = [this] {
    ++next_row_;
    open_ = false;
    begun_ = false;
  };
  if (open_ && first_row == next_row_ + 1) {
    close_row();
  }
  if (!in.ok() || row_count == 0 || row_count > kEdgesPerBlock || first_row != next_row_ ||
      row_count > total_rows - first_row) {
    return in.corrupt("spk: edges: rows");
  }
  read_column(in, static_cast<std::size_t>(row_count), lengths_);
  if (!in.ok() || !read_columns(in)) {
    return in.corrupt("spk: edges: columns");
  }
  edges_.clear();
  for (std::uint64_t i = 0; i < row_count; ++i) {
    if (i > 0) {
      close_row();
    }
    open_ = true;
    if (!add_part(static_cast<std::size_t>(lengths_[static_cast<std::size_t>(i)]))) {
      return in.corrupt("spk: edges: children");
    }
  }
  return std::span<const ClassedEdge>(edges_);
}

bool EdgeBlockDecoder::read_columns(bytes::ByteCursor& in) {
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
  read_column(in, with_class, classes_);
  first_at_ = 0;
  other_at_ = 0;
  class_at_ = 0;
  return in.ok() && in.remaining() == 0;
}

bool EdgeBlockDecoder::add_part(std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    std::uint64_t child = 0;
    if (i == 0) {
      child = next_row_ + static_cast<std::uint64_t>(bytes::zigzag_decode(firsts_[first_at_++]));
    } else {
      const std::uint64_t gap = others_[other_at_++];
      child = gap < frame_count_ ? before_ + gap + 1 : frame_count_;
    }
    const std::uint64_t edge_class = length > 1 ? classes_[class_at_++] : 0;
    if (child >= frame_count_ || (begun_ && child <= before_) || edge_class > kMaxEdgeClass) {
      return false;
    }
    edges_.push_back({static_cast<std::uint32_t>(next_row_), static_cast<std::uint32_t>(child),
                      static_cast<std::uint8_t>(edge_class)});
    before_ = child;
    begun_ = true;
  }
  return true;
}

}  // namespace stackpack::spk
