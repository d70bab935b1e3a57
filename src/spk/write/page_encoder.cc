#include "spk/write/page_encoder.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace stackpack::spk {

namespace {

// The part of a code that fits, and the rest of it after the codes.
std::uint8_t split_code(std::uint32_t value, std::uint32_t escape, bytes::ByteWriter& rests) {
  if (value >= escape) {
    rests.write_varint(value - escape);
  }
  return static_cast<std::uint8_t>(std::min(value, escape));
}

}  // namespace

// The path grows by a node of this frame, or by the root.
Status PageEncoder::enter(std::uint32_t frame) {
  const Result<EdgeRow> row = edges_.row(frame);
  if (!row) {
    return row.error();
  }
  path_.push_back({*row, frame, 0});
  return {};
}

Status PageEncoder::begin_page(std::uint32_t depth) {
  if (path_.empty()) {
    if (const Status entered = enter(edges_.row_count() - 1); !entered) {
      return entered;
    }
  }
  path_.resize(depth);
  path_.back().next = 0;
  spine_length_ = depth - 1;
  for (std::size_t level = 1; level < path_.size(); ++level) {
    const EdgeRow& row = path_[level - 1].row;
    const Result<EdgePlace> place = edges_.place_of(row, path_[level].frame, 0);
    if (!place) {
      return place.error();
    }
    spine_.write(split_code(place->rank, kSpineEscape, spine_rests_));
  }
  return {};
}

Status PageEncoder::add(const DagNode& node) {
  assert(!full() && node.depth >= 1);
  if (empty()) {
    if (const Status begun = begin_page(node.depth); !begun) {
      return begun;
    }
  }
  assert(node.depth <= path_.size());
  std::uint32_t pops = 0;
  while (path_.size() > node.depth) {
    pops += path_.back().can_have_child() ? 1U : 0U;
    path_.pop_back();
  }
  PathLevel& parent = path_.back();
  const Result<EdgePlace> place = edges_.place_of(parent.row, node.frame, parent.next);
  if (!place) {
    return place.error();
  }
  const std::uint32_t child = parent.next == 0 ? place->rank : place->position - parent.next;
  const unsigned high = split_code(pops, kPopsEscape, rests_);
  const unsigned low = split_code(child, kChildEscape, rests_);
  codes_.write(static_cast<std::uint8_t>(high * (kChildEscape + 1) + low));
  depths_.push_back(node.depth);
  ends_.push_back(node.ends_stack);
  parent.next = place->position + 1;
  return enter(node.frame);
}

std::uint32_t PageEncoder::encode(BlockContent& content) {
  const auto count = static_cast<std::uint32_t>(codes_.size());
  std::uint32_t stacks = 0;
  std::vector<std::uint32_t> exceptions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool leaf = i + 1 == count || depths_[i + 1] <= depths_[i];
    if (leaf != ends_[i]) {
      exceptions.push_back(i);
    }
    stacks += ends_[i] ? 1U : 0U;
  }

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
  first_stack_ += stacks;
  for (bytes::ByteWriter* const part : {&spine_, &spine_rests_, &codes_, &rests_}) {
    part->clear();
  }
  depths_.clear();
  ends_.clear();
  return stacks;
}

}  // namespace stackpack::spk
