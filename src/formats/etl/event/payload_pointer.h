#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

/// The next pointer of the payload's size, as 64 bits.
inline std::uint64_t read_pointer(bytes::ByteCursor& in, std::uint8_t pointer_size) {
  return pointer_size == 4 ? in.read<std::uint32_t>() : in.read<std::uint64_t>();
}

}  // namespace stackpack::etl
