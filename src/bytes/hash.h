#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::bytes {

/// XXH3, 64 bits, seed 0.
std::uint64_t xxh3_64(std::span<const std::byte> bytes);

}  // namespace stackpack::bytes
