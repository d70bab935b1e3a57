#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::bytes {

/// XXH3, 64 bits, seed 0.
std::uint64_t xxh3_64(std::span<const std::byte> bytes);

/// XXH3, 128 bits, seed 0, in its canonical order of bytes.
std::array<std::byte, 16> xxh3_128(std::span<const std::byte> bytes);

}  // namespace stackpack::bytes
