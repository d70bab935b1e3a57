#include "dag/frame_word.h"

#include <algorithm>
#include <cassert>

namespace stackpack::dag {
namespace {

std::uint64_t mix(const Frame& frame) {
  const std::uint64_t key = frame.address + static_cast<std::uint64_t>(frame.mode);
  const std::uint64_t product = key * 0x9e3779b97f4a7c15ULL;
  return product ^ (product >> 32);
}

}  // namespace

std::size_t EscapeTable::slot_of(const Frame& frame) const {
  std::size_t slot = static_cast<std::size_t>(mix(frame)) & (slots_.size() - 1);
  while (slots_[slot] != 0 && at(slots_[slot] - 1) != frame) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

std::uint32_t EscapeTable::find(const Frame& frame) const {
  return slots_.empty() ? kNone : slots_[slot_of(frame)] - 1;  // an empty slot gives 0 - 1 = kNone
}

std::uint32_t EscapeTable::intern(const Frame& frame) {
  assert(!full());
  const std::size_t slot = slot_of(frame);
  if (slots_[slot] == 0) {
    addresses_.push_back(frame.address);
    modes_.push_back(static_cast<std::uint8_t>(frame.mode));
    slots_[slot] = static_cast<std::uint32_t>(addresses_.size());
  }
  return slots_[slot] - 1;
}

void EscapeTable::grow() {
  const std::size_t slot_count = std::max(kFirstSlots, 2 * slots_.size());
  addresses_.reserve(slot_count / 4 * 3);
  modes_.reserve(slot_count / 4 * 3);
  slots_ = {};
  slots_.resize(slot_count);
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    slots_[slot_of(at(i))] = static_cast<std::uint32_t>(i + 1);
  }
}

std::uint64_t EscapeTable::growth_peak_bytes() const {
  // The larger table, and the addresses that are being copied from the smaller one.
  return bytes_of(std::max(kFirstSlots, 2 * slots_.size())) + bytes_of(slots_.size());
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
