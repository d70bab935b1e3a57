#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stackpack::app {

/// SipHash-2-4 with a key of 128 bits (Aumasson and Bernstein, 2012): who does not have the key
/// cannot tell which text a hash is of. Cost: proportional to the text.
class SipHash {
 public:
  SipHash(std::uint64_t k0, std::uint64_t k1) : k0_(k0), k1_(k1) {}

  [[nodiscard]] std::uint64_t of(std::string_view text) const {
    std::array<std::uint64_t, 4> v{0x736f6d6570736575U ^ k0_, 0x646f72616e646f6dU ^ k1_,
                                   0x6c7967656e657261U ^ k0_, 0x7465646279746573U ^ k1_};
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (i % 8 * 8);
      if (i % 8 == 7) {
        absorb(v, word);
        word = 0;
      }
    }
    absorb(v, word | std::uint64_t{text.size()} << 56U);
    v[2] ^= 0xffU;
    for (int i = 0; i < 4; ++i) {
      mix(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
  }

 private:
  static void mix(std::array<std::uint64_t, 4>& v) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] = std::rotl(v[2], 32);
  }

  static void absorb(std::array<std::uint64_t, 4>& v, std::uint64_t word) {
    v[3] ^= word;
    mix(v);
    mix(v);
    v[0] ^= word;
  }

  std::uint64_t k0_;
  std::uint64_t k1_;
};

}  // namespace stackpack::app
