#include "dag/frame_word.h"

#include <cassert>

namespace stackpack::dag {
namespace {

std::uint64_t hash_of(const Frame& frame) {
  return core::spread_bits(frame.address + static_cast<std::uint64_t>(frame.mode));
}

}  // namespace

std::uint32_t EscapeTable::find(const Frame& frame) const {
  return index_.find(hash_of(frame), [&](std::uint32_t i) { return at(i) == frame; });
}

std::uint32_t EscapeTable::intern(const Frame& frame) {
  std::uint32_t index = find(frame);
  if (index == kNone) {
    assert(!full());
    index = static_cast<std::uint32_t>(size());
    addresses_.push_back(frame.address);
    modes_.push_back(static_cast<std::uint8_t>(frame.mode));
    index_.insert(hash_of(frame), index, [this](std::uint32_t i) { return hash_of(at(i)); });
  }
  return index;
}

void EscapeTable::grow() {
  const std::size_t room = index_.next_slot_count() / 2;
  addresses_.reserve(room);
  modes_.reserve(room);
  index_.grow([this](std::uint32_t i) { return hash_of(at(i)); });
}

std::uint64_t EscapeTable::growth_peak_bytes() const {
  // The larger table, and what is being copied from the smaller one.
  return bytes_of(index_.next_slot_count()) + bytes_of(index_.slot_count());
}

FrameWord make_word(EscapeTable& escapes, const Frame& frame) {
  return escape_bits(frame.address) == 0 ? frame.address ^ mode_key(frame.mode)
                                         : kEscapeTag | escapes.intern(frame);
}

Frame frame_of(const EscapeTable& escapes, FrameWord word) {
  const std::uint64_t tag = word >> kTagShift;
  if (tag == kEscapeTag >> kTagShift) {
    return escapes.at(word & ~kEscapeTag);
  }
  const std::uint64_t mode = tag < 8 ? tag : 15 - tag;
  return {static_cast<FrameMode>(mode), word ^ (mode << kTagShift)};
}

}  // namespace stackpack::dag
