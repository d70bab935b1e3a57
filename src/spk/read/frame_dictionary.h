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

#include "core/bit_array.h"
#include "spk/format/frame_blocks.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// The dictionary in memory: packed, any frame in constant time.
class FrameDictionary {
 public:
  /// Adds frames; those that follow each other should be near each other.
  void append(std::span<const Frame> frames);
  /// No frame follows.
  void seal();

  [[nodiscard]] std::uint32_t size() const { return size_; }

  class Lookup;
  /// For many look-ups one after the other, once sealed; not longer than the dictionary.
  [[nodiscard]] Lookup lookup() const;
  /// The frame at `index` < size(), once sealed.
  [[nodiscard]] Frame operator[](std::uint32_t index) const;

  /// The dictionary of the frames with these indices, in this order. Sealed, as this one.
  [[nodiscard]] FrameDictionary in_order(std::span<const std::uint32_t> indices) const;

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kGroupFrames = 32;
  static constexpr std::uint8_t kPlain = 0xFF;
  static constexpr std::array<std::uint64_t, 9> kWidthMask{0,
                                                           0xFF,
                                                           0xFFFF,
                                                           0xFFFFFF,
                                                           0xFFFFFFFF,
                                                           core::low_bits(40),
                                                           core::low_bits(48),
                                                           core::low_bits(56),
                                                           core::low_bits(64)};
  struct Group {
    std::uint64_t base = 0;    // lowest address
    std::uint64_t place : 48;  // of the first distance, in bytes
    std::uint64_t width : 8;   // bytes per frame
    std::uint64_t mode : 8;    // of all frames; or kPlain: a byte of mode, then the address
  };

  void close_group();

  std::vector<Group> groups_;
  std::vector<std::byte> distances_;
  std::vector<Frame> open_;  // of the group under construction
  std::uint32_t size_ = 0;
};

class FrameDictionary::Lookup {
 public:
  Frame operator[](std::uint32_t index) const {
    // Past the containers: a hardened standard library would check every subscript, and this is
    // the innermost step of decoding. The index was checked when the page was loaded.
    const Group& group = groups_[index / kGroupFrames];
    const std::byte* const stored =
        distances_ + group.place + std::size_t{group.width} * (index % kGroupFrames);
    if (group.mode == kPlain) {
      return plain(stored);
    }
    std::uint64_t distance = 0;
    std::memcpy(&distance, stored, sizeof distance);
    return {static_cast<FrameMode>(group.mode),
            group.base + (distance & kWidthMask.data()[group.width])};
  }

 private:
  friend class FrameDictionary;
  explicit Lookup(const FrameDictionary& dictionary)
      : groups_(dictionary.groups_.data()), distances_(dictionary.distances_.data()) {}

  static Frame plain(const std::byte* stored) {
    Frame frame;
    frame.mode = static_cast<FrameMode>(*stored);
    std::memcpy(&frame.address, stored + 1, sizeof frame.address);
    return frame;
  }

  const Group* groups_;
  const std::byte* distances_;
};

inline FrameDictionary::Lookup FrameDictionary::lookup() const {
  return Lookup(*this);
}
inline Frame FrameDictionary::operator[](std::uint32_t index) const {
  return lookup()[index];
}

}  // namespace stackpack::spk
