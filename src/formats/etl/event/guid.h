#pragma once

#include <cstdint>
#include <string>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"

namespace stackpack::etl {

/// The 16 bytes of a GUID as Windows stores them, loaded as two little-endian words.
struct Guid {
  std::uint64_t low = 0;   ///< first, second and third group: u32, u16, u16
  std::uint64_t high = 0;  ///< the last eight bytes, in the order of the text

  friend bool operator==(const Guid&, const Guid&) = default;
};

/// The GUID whose text is aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.
constexpr Guid make_guid(std::uint32_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d,
                         std::uint64_t e) {
  const std::uint64_t tail = (std::uint64_t{d} << 48) | e;
  return {std::uint64_t{a} | (std::uint64_t{b} << 32) | (std::uint64_t{c} << 48),
          bytes::byte_swap(tail)};
}

inline Guid read_guid(bytes::ByteCursor& in) {
  Guid guid;
  guid.low = in.read<std::uint64_t>();
  guid.high = in.read<std::uint64_t>();
  return guid;
}

/// Lower-case text without braces.
inline std::string text_of(const Guid& guid) {
  std::string text;
  text.reserve(36);
  const auto hex = [&text](std::uint64_t value, unsigned digits) {
    bytes::append_hex(text, value, digits);
  };
  const std::uint64_t tail = bytes::byte_swap(guid.high);
  hex(guid.low & 0xFFFFFFFF, 8);
  text.push_back('-');
  hex((guid.low >> 32) & 0xFFFF, 4);
  text.push_back('-');
  hex(guid.low >> 48, 4);
  text.push_back('-');
  hex(tail >> 48, 4);
  text.push_back('-');
  hex(tail & 0xFFFFFFFFFFFF, 12);
  return text;
}

}  // namespace stackpack::etl
