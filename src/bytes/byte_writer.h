#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stackpack::bytes {

/// Appends little-endian fields to a byte vector which it owns.
class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void write(T value) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }

  /// LEB128: seven bits a byte, low ones first, high bit set on all bytes but the last.
  void write_varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::byte>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::byte>(value));
  }

  void write_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  /// The characters alone; the caller writes the length.
  void write_text(std::string_view text) { write_bytes(std::as_bytes(std::span(text))); }

  void pad_to_multiple_of(std::size_t alignment) {
    while (bytes_.size() % alignment != 0) {
      bytes_.push_back(std::byte{0});
    }
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

/// Small magnitudes of either sign to small unsigned numbers: 0 -1 1 -2 2 ... to 0 1 2 3 4 ...
constexpr std::uint64_t zigzag_encode(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

constexpr std::int64_t zigzag_decode(std::uint64_t code) {
  return static_cast<std::int64_t>(code >> 1) ^ -static_cast<std::int64_t>(code & 1);
}

}  // namespace stackpack::bytes
