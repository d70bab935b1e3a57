#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace stackpack::bytes {

/// XXH3, 64 bits, seed 0.
std::uint64_t xxh3_64(std::span<const std::byte> bytes);

/// XXH3, 128 bits, seed 0, in its canonical order of bytes.
std::array<std::byte, 16> xxh3_128(std::span<const std::byte> bytes);

/// xxh3_128() of bytes that come in parts: how they are cut makes no difference. Throws
/// std::bad_alloc. Threads: one at a time.
class HashStream {
 public:
  HashStream();

  void update(std::span<const std::byte> bytes);

  /// Of all parts so far.
  [[nodiscard]] std::array<std::byte, 16> digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace stackpack::bytes
