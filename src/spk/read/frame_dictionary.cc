#include "spk/read/frame_dictionary.h"

#include <algorithm>

namespace stackpack::spk {

void FrameDictionary::append(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    open_.push_back(frame);
    ++size_;
    if (open_.size() == kGroupFrames) {
      close_group();
    }
  }
}

void FrameDictionary::seal() {
  if (!open_.empty()) {
    close_group();
  }
  distances_.resize(distances_.size() + sizeof(std::uint64_t));  // so that 8 bytes can be read
  distances_.shrink_to_fit();
  groups_.shrink_to_fit();
  open_ = {};
}

void FrameDictionary::close_group() {
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  bool one_mode = true;
  for (const Frame& frame : open_) {
    low = std::min(low, frame.address);
    high = std::max(high, frame.address);
    one_mode = one_mode && frame.mode == open_.front().mode;
  }
  const unsigned width = one_mode ? (core::bit_width_of(high - low) + 7) / 8 : 1 + sizeof high;
  Group group{};
  group.base = low;
  constexpr std::uint64_t kPlaceMask =
      core::low_bits(48);  // a constant: compilers see that it fits
  group.place = distances_.size() & kPlaceMask;
  group.width = width & 0xFFU;
  group.mode = one_mode ? static_cast<std::uint8_t>(open_.front().mode) : kPlain;
  groups_.push_back(group);
  const auto put = [this](std::uint64_t value, unsigned bytes) {
    for (unsigned byte = 0; byte < bytes; ++byte) {
      distances_.push_back(static_cast<std::byte>(value >> (8 * byte)));
    }
  };
  for (const Frame& frame : open_) {
    if (one_mode) {
      put(frame.address - low, width);
    } else {
      put(static_cast<std::uint8_t>(frame.mode), 1);
      put(frame.address, sizeof frame.address);
    }
  }
  open_.clear();
}

FrameDictionary FrameDictionary::in_order(std::span<const std::uint32_t> indices) const {
  FrameDictionary ordered;
  const Lookup frames = lookup();
  for (const std::uint32_t index : indices) {
    const Frame frame = frames[index];
    ordered.append({&frame, 1});
  }
  ordered.seal();
  return ordered;
}

std::uint64_t FrameDictionary::memory_bytes() const {
  return sizeof *this + groups_.capacity() * sizeof(Group) + distances_.capacity();
}

}  // namespace stackpack::spk
