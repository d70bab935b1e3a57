#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stackpack::bytes {

/// The bytes as characters, NUL and all.
inline std::string_view text_of(std::span<const std::byte> bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes to chars, nothing else
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline constexpr std::string_view kLowerHex = "0123456789abcdef";
inline constexpr std::string_view kUpperHex = "0123456789ABCDEF";

/// Appends the lowest `digits` hexadecimal digits of `value`, with leading zeros.
inline void append_hex(std::string& out, std::uint64_t value, unsigned digits,
                       std::string_view alphabet = kLowerHex) {
  while (digits-- > 0) {
    out += alphabet[(value >> (4 * digits)) & 0xF];
  }
}

}  // namespace stackpack::bytes
