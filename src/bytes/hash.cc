#include "bytes/hash.h"

#include <xxhash.h>

namespace stackpack::bytes {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace stackpack::bytes
