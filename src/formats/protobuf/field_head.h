#pragma once

#include <cstddef>
#include <cstdint>

#include "bytes/byte_cursor.h"

namespace stackpack::protobuf {

/// What stands before the content of a field: its number, and a number or how many bytes follow.
struct FieldHead {
  std::uint32_t number = 0;
  bool has_bytes = false;
  std::uint64_t value = 0;  ///< of a number; else the number of bytes
};

/// The largest head: a tag and a length, or a tag and a number, of ten bytes each.
inline constexpr std::size_t kMostHeadBytes = 20;

/// Reads a head; false for a kind of field that protobuf does not have. The cursor fails when the
/// head is cut, or has a number of more than 64 bits.
/// Source: https://protobuf.dev/programming-guides/encoding/
bool read_field_head(bytes::ByteCursor& in, FieldHead& head);

}  // namespace stackpack::protobuf
