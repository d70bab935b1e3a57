// The frames of a file in memory; frame_blocks.h has them on disk.
//
// Groups of 32 frames share a base address; each frame has the distance from it in as
// many bytes as the group's widest needs. That is about 2.5 bytes a frame and two dependent loads
// to read one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "spk/format/bit_array.h"
#include "spk/format/frame_blocks.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// The dictionary in memory: packed, any frame in constant time.
class FrameDictionary {
 public:
  /// Adds frames, each above all frames before it.
  void append(std::span<const Frame> frames);
  /// No frame follows.
  void seal();

  [[nodiscard]] std::uint32_t size() const { return size_; }

  class Lookup;
  /// For many look-ups one after the other, once sealed; not longer than the dictionary.
  [[nodiscard]] Lookup lookup() const;
  /// The frame at `index` < size(), once sealed.
  [[nodiscard]] Frame operator[](std::uint32_t index) const;

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kGroupFrames = 32;
  static constexpr std::uint8_t kMixed = 0xFF;
  static constexpr std::array<std::uint64_t, 9> kWidthMask{
      0,           0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, low_bits(40), low_bits(48), low_bits(56),
      low_bits(64)};
  struct Group {
    std::uint64_t base = 0;    // lowest address
    std::uint64_t place : 48;  // of the first distance
    std::uint64_t width : 8;   // bytes per distance
    std::uint64_t mode : 8;    // of all frames, or kMixed
  };

  using ModeEnds = std::array<std::uint32_t, kFrameModeCount>;  // index after the mode's last frame
  static FrameMode mode_of(std::uint32_t index, const std::uint32_t* ends) {
    unsigned mode = 0;
    while (index >= ends[mode]) {
      ++mode;
    }
    return static_cast<FrameMode>(mode);
  }
  void close_group();

  std::vector<Group> groups_;
  std::vector<std::byte> distances_;
  std::vector<std::uint64_t> open_;  // addresses of the group under construction
  std::uint32_t size_ = 0;
  ModeEnds mode_end_{};
};

class FrameDictionary::Lookup {
 public:
  Frame operator[](std::uint32_t index) const {
    // Past the containers: a hardened standard library would check every subscript, and this is
    // the innermost step of decoding. The index was checked when the page was loaded.
    const Group& group = groups_[index / kGroupFrames];
    const std::size_t place = group.place + std::size_t{group.width} * (index % kGroupFrames);
    std::uint64_t distance = 0;
    std::memcpy(&distance, distances_ + place, sizeof distance);
    const auto mode =
        group.mode != kMixed ? static_cast<FrameMode>(group.mode) : mode_of(index, mode_ends_);
    return {mode, group.base + (distance & kWidthMask.data()[group.width])};
  }

 private:
  friend class FrameDictionary;
  explicit Lookup(const FrameDictionary& dictionary)
      : groups_(dictionary.groups_.data()),
        distances_(dictionary.distances_.data()),
        mode_ends_(dictionary.mode_end_.data()) {}

  const Group* groups_;
  const std::byte* distances_;
  const std::uint32_t* mode_ends_;
};

inline FrameDictionary::Lookup FrameDictionary::lookup() const {
  return Lookup(*this);
}
inline Frame FrameDictionary::operator[](std::uint32_t index) const {
  return lookup()[index];
}

}  // namespace stackpack::spk
