#include "bytes/hash.h"

#include <bit>
#include <new>

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

HashStream::HashStream() : state_(XXH3_createState()) {
  if (state_ == nullptr) {
    throw std::bad_alloc();
  }
  XXH3_128bits_reset(state_.get());
}

void HashStream::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

std::array<std::byte, 16> HashStream::digest() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
  return std::bit_cast<std::array<std::byte, 16>>(canonical);
}

void HashStream::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

}  // namespace stackpack::bytes
