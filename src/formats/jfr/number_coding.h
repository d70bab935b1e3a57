#pragma once

#include <cstdint>
#include <string>

#include "bytes/byte_cursor.h"

namespace stackpack::jfr {

/// Numbers and texts of a chunk, whose integers are compressed or not.
///
/// Compressed: 7 bits a byte, least significant first, the highest bit says that more follow; the
/// ninth byte has 8 bits. Else: most significant byte first.
struct NumberCoding {
  bool compressed = true;

  std::uint64_t read_long(bytes::ByteCursor& in) const {
    return compressed ? read_compressed(in) : in.read<std::uint64_t>();
  }
  std::uint32_t read_int(bytes::ByteCursor& in) const {
    return compressed ? static_cast<std::uint32_t>(read_compressed(in)) : in.read<std::uint32_t>();
  }
  std::uint16_t read_short(bytes::ByteCursor& in) const {
    return compressed ? static_cast<std::uint16_t>(read_compressed(in)) : in.read<std::uint16_t>();
  }

  /// A text into `out`. Result: the key of a constant that it is instead; 0: none.
  std::uint64_t read_text(bytes::ByteCursor& in, std::string& out) const;

  static std::uint64_t read_compressed(bytes::ByteCursor& in);
};

}  // namespace stackpack::jfr
