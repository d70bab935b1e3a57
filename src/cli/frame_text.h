#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>

#include "stackpack/model.h"

namespace stackpack::cli {

/// Appends `number` in lower-case hex without leading zeros.
inline void append_hex(std::string& out, std::uint64_t number) {
  std::array<char, 16> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills it
  constexpr int kBase = 16;
  const auto end = std::to_chars(digits.begin(), digits.end(), number, kBase).ptr;
  out.append(digits.begin(), end);
}

/// Appends a frame as listings write it: mode letter, address in hex.
inline void append_frame(std::string& out, const Frame& frame) {
  out += mode_letter(frame.mode);
  append_hex(out, frame.address);
}

/// Appends frames in their order, separated by single spaces.
inline void append_frames(std::string& out, std::span<const Frame> frames) {
  bool first = true;
  for (const Frame& frame : frames) {
    if (!first) {
      out += ' ';
    }
    first = false;
    append_frame(out, frame);
  }
}

}  // namespace stackpack::cli
