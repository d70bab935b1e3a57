// Frames as 64-bit words.
//
// A node keeps its frame in one word, so that verifying a candidate is one compare. Frames have 67
// bits of information, yet nearly all addresses are canonical: their top nibble is 0 (user half) or
// F (kernel half). For those the mode goes into the top nibble by exclusive or:
//
//     word = address ^ mode << 60        tag nibble:  0 1 2 3 4 5 6     for addresses 0...
//                                                     F E D C B A 9     for addresses F...
//
// The seven pairs are disjoint, so the word gives mode and address. Tag 7 is the escape for all
// other addresses (garbage found by a frame-pointer walk): its low bits index a table of such
// frames. Tag 8 is never made; the root has it, so that no frame ever compares equal to the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index_table.h"
#include "stackpack/model.h"

namespace stackpack::dag {

using FrameWord = std::uint64_t;

inline constexpr unsigned kTagShift = 60;
inline constexpr FrameWord kEscapeTag = FrameWord{7} << kTagShift;
inline constexpr FrameWord kRootWord = FrameWord{8} << kTagShift;

/// What a canonical address is combined with to give its word.
constexpr FrameWord mode_key(FrameMode mode) {
  return static_cast<FrameWord>(mode) << kTagShift;
}

/// Nonzero bits for an address that needs an escape: top nibble neither 0 nor F.
constexpr std::uint64_t escape_bits(std::uint64_t address) {
  return (address + (std::uint64_t{1} << kTagShift)) >> (kTagShift + 1);
}

/// The frames without a word of their own, each once.
class EscapeTable {
 public:
  static constexpr std::uint32_t kNone = core::IndexTable::kNone;

  /// Index of the frame, or kNone.
  [[nodiscard]] std::uint32_t find(const Frame& frame) const;

  /// Index of the frame, which is added when it is new; the table must not be full() then.
  std::uint32_t intern(const Frame& frame);

  [[nodiscard]] bool full() const { return index_.full(); }

  /// Doubles the room.
  void grow();

  [[nodiscard]] Frame at(std::uint64_t index) const {
    return {static_cast<FrameMode>(modes_[index]), addresses_[index]};
  }
  [[nodiscard]] std::size_t size() const { return addresses_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_of(index_.slot_count()); }

  /// Bytes in use at the worst moment of grow().
  [[nodiscard]] std::uint64_t growth_peak_bytes() const;

 private:
  static constexpr std::uint64_t bytes_of(std::uint64_t slots) {
    return slots / 2 * (sizeof(std::uint64_t) + 1) + slots * sizeof(std::uint32_t);
  }

  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint8_t> modes_;
  core::IndexTable index_;
};

/// The word of a frame, or false when it needs an escape which the table does not have.
inline bool find_word(const EscapeTable& escapes, const Frame& frame, FrameWord& word) {
  if (escape_bits(frame.address) == 0) {
    word = frame.address ^ mode_key(frame.mode);
    return true;
  }
  const std::uint32_t index = escapes.find(frame);
  word = kEscapeTag | index;
  return index != EscapeTable::kNone;
}

/// The word of a frame; adds an escape when it needs one (the table must not be full then).
FrameWord make_word(EscapeTable& escapes, const Frame& frame);

/// The frame of a word made with the same table; not for kRootWord.
Frame frame_of(const EscapeTable& escapes, FrameWord word);

}  // namespace stackpack::dag
