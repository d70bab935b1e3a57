#pragma once

#include <cstdint>

namespace stackpack::codec {

/// How far compressed input may grow. Captures shrink to a twentieth, seldom to a hundredth; what
/// grows further is a bomb, and would fill the disk with scratch files.
inline constexpr std::uint64_t kMostGrowth = 256;
/// Small inputs may be anything: a trace of empty buffers shrinks to nothing.
inline constexpr std::uint64_t kFreeGrowth = std::uint64_t{64} << 20;

/// Whether `unpacked` bytes are more than `packed` bytes may become.
constexpr bool grows_too_much(std::uint64_t unpacked, std::uint64_t packed) {
  return unpacked > kFreeGrowth && (unpacked - kFreeGrowth) / kMostGrowth > packed;
}

}  // namespace stackpack::codec
