#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::etl {

/// Bytes after the wanted output on which the decoders may scribble: they copy in steps of 16.
inline constexpr std::size_t kDecodeSlack = 64;

enum class DecodeEnd : std::uint8_t {
  kComplete,  ///< the wanted number of bytes was produced
  kShort,     ///< the input ended first; what was produced is right as far as it goes
  kCorrupt,   ///< the input says something impossible; what was produced is not to be trusted
};

struct DecodeOutcome {
  std::size_t produced = 0;
  DecodeEnd end = DecodeEnd::kComplete;
  std::size_t left = 0;  ///< kComplete: bytes of input that were not needed, but for padding

  friend bool operator==(const DecodeOutcome&, const DecodeOutcome&) = default;
};

}  // namespace stackpack::etl
