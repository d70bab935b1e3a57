#include "spk/read/page_decoder.h"

#include <algorithm>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

// No rank, distance or number of levels has more than 32 bits.
bool read_rest(bytes::ByteCursor& in, std::uint32_t escape, std::uint32_t& value) {
  const std::uint64_t rest = read_varint(in);
  value = escape + static_cast<std::uint32_t>(rest);
  return in.ok() && rest <= ~std::uint32_t{0} - escape;
}

}  // namespace

bool PageDecoder::read_head(bytes::ByteCursor& in, const Expected& expected) {
  const bool same = read_varint(in) == expected.first_node &&
                    read_varint(in) == expected.first_stack && read_varint(in) == expected.nodes;
  const std::uint64_t spine = read_varint(in);
  const std::uint64_t exceptions = read_varint(in);
  if (!in.ok() || !same || spine >= kMaxStackDepth || exceptions > expected.nodes) {
    return false;
  }
  node_count_ = expected.nodes;
  spine_length_ = static_cast<std::uint32_t>(spine);
  exception_count_ = static_cast<std::uint32_t>(exceptions);
  return true;
}

bool PageDecoder::read_codes(bytes::ByteCursor& in) {
  const std::span<const std::byte> spine = in.read_bytes(spine_length_);
  spine_ranks_.resize(spine.size());
  std::transform(spine.begin(), spine.end(), spine_ranks_.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint32_t>(byte); });
  codes_ = in.read_bytes(node_count_);
  return in.ok() && read_exceptions(in) && read_rests(in) && in.remaining() == 0;
}

bool PageDecoder::read_rests(bytes::ByteCursor& in) {
  for (std::uint32_t& rank : spine_ranks_) {
    if (rank == kSpineEscape && !read_rest(in, kSpineEscape, rank)) {
      return false;
    }
  }
  rests_.clear();
  for (const std::byte code : codes_) {
    const auto value = std::to_integer<std::uint32_t>(code);
    const std::uint32_t pops = value / (kChildEscape + 1);
    const std::uint32_t child = value % (kChildEscape + 1);
    if (pops == kPopsEscape && !read_rest(in, kPopsEscape, rests_.emplace_back())) {
      return false;
    }
    if (child == kChildEscape && !read_rest(in, kChildEscape, rests_.emplace_back())) {
      return false;
    }
  }
  return true;
}

bool PageDecoder::read_exceptions(bytes::ByteCursor& in) {
  exceptions_.clear();
  std::uint64_t node = 0;
  for (std::uint32_t i = 0; i < exception_count_; ++i) {
    const std::uint64_t distance = read_varint(in);
    if (distance >= node_count_ - node || (distance == 0 && i > 0)) {
      return false;
    }
    node += distance;
    exceptions_.push_back(static_cast<std::uint32_t>(node));
  }
  return in.ok();
}

// The path down to the frame that the first node hangs on.
bool PageDecoder::walk_spine(const EdgeTable& edges) {
  path_.resize(std::size_t{spine_length_} + node_count_ + 1);
  spine_.clear();
  const std::uint32_t root = edges.row_count() - 1;
  path_[0] = {{edges[root], root, 0}, node_count_};
  for (std::uint32_t level = 0; level < spine_length_; ++level) {
    Level& parent = path_[level];
    if (spine_ranks_[level] >= parent.row.size) {
      return false;
    }
    const std::uint32_t position = edges.position(parent.row, spine_ranks_[level]);
    const std::uint32_t frame = edges.child(parent.row, position);
    parent.next = position + 1;
    path_[level + 1] = {{edges[frame], frame, 0}, node_count_ + level + 1};
    spine_.push_back(frame);
  }
  depth_ = std::size_t{spine_length_} + 1;
  const auto first_code = std::to_integer<std::uint32_t>(codes_.front());
  return path_[spine_length_].row.size > 0 && first_code / (kChildEscape + 1) == 0;
}

bool PageDecoder::walk_nodes(const EdgeTable& edges) {
  nodes_.resize(node_count_);
  std::size_t depth = depth_;
  auto rest = rests_.begin();
  for (std::uint32_t i = 0; i < node_count_; ++i) {
    const auto code = std::to_integer<std::uint32_t>(codes_[i]);
    std::uint32_t pops = code / (kChildEscape + 1);
    std::uint32_t child = code % (kChildEscape + 1);
    pops = pops == kPopsEscape ? *rest++ : pops;
    child = child == kChildEscape ? *rest++ : child;
    while (depth > 0 && (pops > 0 || !path_[depth - 1].can_have_child())) {
      pops -= path_[depth - 1].can_have_child() ? 1U : 0U;
      --depth;
    }
    if (depth == 0 || depth > kMaxStackDepth) {
      return false;
    }
    Level& parent = path_[depth - 1];
    if (child >= parent.row.size - parent.next) {
      return false;
    }
    const std::uint32_t position =
        parent.next == 0 ? edges.position(parent.row, child) : parent.next + child;
    const std::uint32_t frame = edges.child(parent.row, position);
    nodes_[i] = {frame, parent.node, position,
                 static_cast<bool>((parent.next == 0) & (child == 0))};
    parent.next = position + 1;
    path_[depth++] = {{edges[frame], frame, 0}, i};
  }
  depth_ = depth;
  return true;
}

void PageDecoder::last_path(std::vector<std::uint32_t>& path) const {
  path.clear();
  for (std::size_t level = 1; level < depth_; ++level) {
    path.push_back(path_[level].frame);
  }
}

// Each leaf but the last, which may have a child in the next page, ends a callstack.
bool PageDecoder::exceptions_fit() const {
  return std::all_of(exceptions_.begin(), exceptions_.end(), [this](std::uint32_t node) {
    return node + 1 == node_count_ || nodes_[node + 1].parent == node;
  });
}

Result<ResidentPage> PageDecoder::decode(std::span<const std::byte> content, const EdgeTable& edges,
                                         const Expected& expected) {
  bytes::ByteCursor in(content, 0);
  const Error bad{ErrorCode::kCorrupt, expected.offset, "spk: page"};
  if (!read_head(in, expected) || !read_codes(in) || !walk_spine(edges) || !walk_nodes(edges) ||
      !exceptions_fit()) {
    return bad;
  }
  ResidentPage page =
      packer_.pack(nodes_, spine_, exceptions_, bit_width_of(edges.row_count() - 1));
  if (page.stack_count() != expected.stacks) {
    return bad;
  }
  return page;
}

}  // namespace stackpack::spk
