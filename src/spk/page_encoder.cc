#include "spk/page_encoder.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace stackpack::spk {

namespace {

// The part of a code that fits, and the rest of it behind.
std::uint8_t split_code(std::uint32_t value, std::uint32_t escape, io::ByteWriter& rests) {
  if (value >= escape) {
    rests.write_varint(value - escape);
  }
  return static_cast<std::uint8_t>(std::min(value, escape));
}

}  // namespace

PageEncoder::PageEncoder(const EdgeTable& edges) : edges_(edges) {
  for (std::uint32_t frame = 0; frame < edges_.row_count(); ++frame) {
    const EdgeRow row = edges_[frame];
    ranks_.resize(static_cast<std::size_t>(row.first) + (row.size > 1 ? row.size : 0));
    for (std::uint32_t rank = 0; row.size > 1 && rank < row.size; ++rank) {
      ranks_[static_cast<std::size_t>(row.first) + edges_.position(row, rank)] = rank;
    }
  }
  const std::uint32_t root = edges_.row_count() - 1;
  path_.push_back({edges_[root], root, 0});
}

// Siblings ascend and often follow each other; so the search begins at the next position and goes
// on in growing steps.
std::uint32_t PageEncoder::position_of(const EdgeRow& row, std::uint32_t child,
                                       std::uint32_t next) const {
  std::uint32_t low = next;
  std::uint32_t high = next;
  for (std::uint32_t step = 1; high < row.size && edges_.child(row, high) < child; step *= 2) {
    low = high + 1;
    high += std::min(step, row.size - high);
  }
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (edges_.child(row, middle) < child) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void PageEncoder::begin_page(std::uint32_t depth) {
  path_.resize(depth);
  path_.back().next = 0;
  spine_length_ = depth - 1;
  for (std::size_t level = 1; level < path_.size(); ++level) {
    const EdgeRow& row = path_[level - 1].row;
    const std::uint32_t rank = rank_of(row, position_of(row, path_[level].frame, 0));
    spine_.write(split_code(rank, kSpineEscape, spine_rests_));
  }
}

void PageEncoder::add(const DagNode& node) {
  assert(!full() && node.depth >= 1 && node.depth <= path_.size());
  if (empty()) {
    begin_page(node.depth);
  }
  std::uint32_t pops = 0;
  while (path_.size() > node.depth) {
    pops += path_.back().can_have_child() ? 1U : 0U;
    path_.pop_back();
  }
  PathLevel& parent = path_.back();
  // Most nodes are the child of rank 0: its position stands in the table.
  const bool top = parent.next == 0 && parent.row.top == node.frame;
  const std::uint32_t position =
      top ? edges_.position(parent.row, 0) : position_of(parent.row, node.frame, parent.next);
  const std::uint32_t child = top                ? 0
                              : parent.next == 0 ? rank_of(parent.row, position)
                                                 : position - parent.next;
  const unsigned high = split_code(pops, kPopsEscape, rests_);
  const unsigned low = split_code(child, kChildEscape, rests_);
  codes_.write(static_cast<std::uint8_t>(high * (kChildEscape + 1) + low));
  depths_.push_back(node.depth);
  ends_.push_back(node.ends_stack);
  tops_.push_back(top);
  parent.next = position + 1;
  path_.push_back({edges_[node.frame], node.frame, 0});
}

PageEncoder::Page PageEncoder::encode(BlockContent& content) {
  const auto count = static_cast<std::uint32_t>(codes_.size());
  Page page;
  std::vector<std::uint32_t> exceptions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool leaf = i + 1 == count || depths_[i + 1] <= depths_[i];
    if (leaf != ends_[i]) {
      exceptions.push_back(i);
    }
    page.stacks += ends_[i] ? 1U : 0U;
    const bool child = i > 0 && depths_[i] == depths_[i - 1] + 1;
    const bool sibling = i > 0 && depths_[i] == depths_[i - 1];
    page.shape.parents += child || sibling ? 0U : 1U;
    page.shape.named += child && ResidentPage::may_be_unnamed(i) && tops_[i] ? 0U : 1U;
  }
  page.shape.nodes = count;
  page.shape.stacks = page.stacks;
  page.shape.spine = spine_length_;
  page.shape.exceptions = static_cast<std::uint32_t>(exceptions.size());
  page.shape.frame_bits = bit_width_of(edges_.row_count() - 1);

  const std::array<std::uint64_t, 5> head{first_node_, first_stack_, count, spine_length_,
                                          exceptions.size()};
  for (const std::uint64_t value : head) {
    content.bytes().write_varint(value);
  }
  content.bytes().write_bytes(spine_.bytes());
  content.bytes().write_bytes(codes_.bytes());
  std::uint32_t before = 0;
  for (const std::uint32_t node : exceptions) {
    content.bytes().write_varint(node - before);
    before = node;
  }
  content.bytes().write_bytes(spine_rests_.bytes());
  content.bytes().write_bytes(rests_.bytes());

  first_node_ += count;
  first_stack_ += page.stacks;
  for (io::ByteWriter* const part : {&spine_, &spine_rests_, &codes_, &rests_}) {
    part->clear();
  }
  depths_.clear();
  ends_.clear();
  tops_.clear();
  return page;
}

}  // namespace stackpack::spk
