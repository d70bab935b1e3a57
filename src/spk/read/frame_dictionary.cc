#include "spk/read/frame_dictionary.h"

#include <algorithm>

namespace stackpack::spk {

namespace {

// Bytes for the distance of an address from the lowest of its group.
unsigned distance_bytes(std::uint64_t low, std::uint64_t high) {
  return (bit_width_of(high - low) + 7) / 8;
}

}  // namespace

void FrameDictionary::append(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    open_.push_back(frame.address);
    ++size_;
    for (auto mode = static_cast<std::size_t>(frame.mode); mode < mode_end_.size(); ++mode) {
      mode_end_[mode] = size_;
    }
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
  const auto [low, high] = std::minmax_element(open_.begin(), open_.end());
  const FrameMode first =
      mode_of(size_ - static_cast<std::uint32_t>(open_.size()), mode_end_.data());
  const FrameMode last = mode_of(size_ - 1, mode_end_.data());
  Group group{};
  group.base = *low;
  group.place = distances_.size() & 0xFFFFFFFFFFFF;
  group.width = distance_bytes(*low, *high) & 0xFF;
  group.mode = first == last ? static_cast<std::uint8_t>(first) : kMixed;
  groups_.push_back(group);
  for (const std::uint64_t address : open_) {
    for (unsigned byte = 0; byte < group.width; ++byte) {
      distances_.push_back(static_cast<std::byte>((address - group.base) >> (8 * byte)));
    }
  }
  open_.clear();
}

std::uint64_t FrameDictionary::memory_bytes() const {
  return sizeof *this + groups_.capacity() * sizeof(Group) + distances_.capacity();
}

}  // namespace stackpack::spk
