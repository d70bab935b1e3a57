#include "spk/read/page_walk.h"

namespace stackpack::spk {

bool PageWalk::begin(std::span<const std::byte> content, const EdgeTable& edges,
                     const Expected& expected) {
  in_ = bytes::ByteCursor(content, 0);
  return read_head(expected) && read_codes() && walk_spine(edges);
}

bool PageWalk::read_head(const Expected& expected) {
  const bool same = read_varint(in_) == expected.first_node &&
                    read_varint(in_) == expected.first_stack && read_varint(in_) == expected.nodes;
  const std::uint64_t spine = read_varint(in_);
  const std::uint64_t exceptions = read_varint(in_);
  if (!in_.ok() || !same || spine >= kMaxStackDepth || exceptions > expected.nodes) {
    return false;
  }
  node_count_ = expected.nodes;
  spine_length_ = static_cast<std::uint32_t>(spine);
  exception_count_ = static_cast<std::uint32_t>(exceptions);
  return true;
}

bool PageWalk::read_codes() {
  spine_codes_ = in_.read_bytes(spine_length_);
  codes_ = in_.read_bytes(node_count_);
  return in_.ok() && read_exceptions();
}

// No rank, distance or number of levels has more than 32 bits.
bool PageWalk::read_rest(std::uint32_t escape, std::uint32_t& value) {
  const std::uint64_t rest = read_varint(in_);
  value = escape + static_cast<std::uint32_t>(rest);
  return in_.ok() && rest <= ~std::uint32_t{0} - escape;
}

bool PageWalk::read_exceptions() {
  exceptions_.clear();
  std::uint64_t node = 0;
  for (std::uint32_t i = 0; i < exception_count_; ++i) {
    const std::uint64_t distance = read_varint(in_);
    if (distance >= node_count_ - node || (distance == 0 && i > 0)) {
      return false;
    }
    node += distance;
    exceptions_.push_back(static_cast<std::uint32_t>(node));
  }
  return in_.ok();
}

// The path down to the frame that the first node hangs on.
bool PageWalk::walk_spine(const EdgeTable& edges) {
  path_.resize(std::size_t{spine_length_} + node_count_ + 1);
  spine_.clear();
  const std::uint32_t root = edges.row_count() - 1;
  path_[0] = {{edges[root], root, 0}, node_count_};
  for (std::uint32_t level = 0; level < spine_length_; ++level) {
    Level& parent = path_[level];
    auto rank = std::to_integer<std::uint32_t>(spine_codes_[level]);
    if ((rank == kSpineEscape && !read_rest(kSpineEscape, rank)) || rank >= parent.row.size) {
      return false;
    }
    const std::uint32_t position = edges.position(parent.row, rank);
    const std::uint32_t frame = edges.child(parent.row, position);
    parent.next = position + 1;
    path_[level + 1] = {{edges[frame], frame, 0}, node_count_ + level + 1};
    spine_.push_back(frame);
  }
  depth_ = std::size_t{spine_length_} + 1;
  const auto first_code = std::to_integer<std::uint32_t>(codes_.front());
  return path_[spine_length_].row.size > 0 && first_code / (kChildEscape + 1) == 0;
}

}  // namespace stackpack::spk
