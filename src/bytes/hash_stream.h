#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace stackpack::bytes {

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
