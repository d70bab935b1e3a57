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

  /// The frame at `index` < size(), once sealed.
  [[nodiscard]] Frame operator[](std::uint32_t index) const {
    // Past the containers: a hardened standard library would check every subscript, and this is
    // the innermost step of decoding. The index was checked when the page was loaded.
    const Group& group = groups_.data()[index / kGroupFrames];
    const std::size_t place = group.place + std::size_t{group.width} * (index % kGroupFrames);
    std::uint64_t distance = 0;
    std::memcpy(&distance, distances_.data() + place, sizeof distance);
    const auto mode = group.mode != kMixed ? static_cast<FrameMode>(group.mode) : mode_of(index);
    return {mode, group.base + (distance & kWidthMask.data()[group.width])};
  }

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

  [[nodiscard]] FrameMode mode_of(std::uint32_t index) const {
    unsigned mode = 0;
    while (index >= mode_end_[mode]) {
      ++mode;
    }
    return static_cast<FrameMode>(mode);
  }
  void close_group();

  std::vector<Group> groups_;
  std::vector<std::byte> distances_;
  std::vector<std::uint64_t> open_;  // addresses of the group under construction
  std::uint32_t size_ = 0;
  std::array<std::uint32_t, kFrameModeCount> mode_end_{};  // index after the mode's last frame
};

}  // namespace stackpack::spk
