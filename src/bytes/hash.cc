#include "bytes/hash.h"

#include <bit>

#include <xxhash.h>

namespace stackpack::bytes {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::array<std::byte, 16> xxh3_128(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::bit_cast<std::array<std::byte, 16>>(canonical);
}

}  // namespace stackpack::bytes
