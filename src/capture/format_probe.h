// What a format says to the first bytes of a capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stackpack::capture {

/// Bytes of a capture that probes are shown.
inline constexpr std::size_t kProbeBytes = std::size_t{1} << 16;

/// The first bytes of a capture; of what is in it, when it is compressed.
struct CaptureHead {
  std::span<const std::byte> bytes;
  bool whole = false;  ///< there are no more
};

enum class ProbeAnswer : std::uint8_t {
  kNo,
  kPossible,  ///< it may be: reading it tells
  kCertain,   ///< it is, or it is a damaged one
};

/// The answer of one format. A test holds that no two formats are certain of one file.
struct Probe {
  ProbeAnswer answer = ProbeAnswer::kNo;
  std::string_view reason;  ///< static text: what was found or what is missing, for messages
  std::uint8_t share = 0;   ///< of a possible one: percent of the head that reads as the format

  explicit operator bool() const { return answer != ProbeAnswer::kNo; }
};

/// The answers of formats with a magic number.
constexpr Probe probe_of_magic(bool found, std::string_view missing) {
  return found ? Probe{ProbeAnswer::kCertain, "its magic number", 100}
               : Probe{ProbeAnswer::kNo, missing, 0};
}

}  // namespace stackpack::capture
