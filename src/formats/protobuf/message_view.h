#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include <protozero/data_view.hpp>
#include <protozero/pbf_reader.hpp>

namespace stackpack::protobuf {

/// protozero's reader over the bytes of one message. It throws protozero::exception for bytes that
/// make no sense; catch that where a message is taken.
inline protozero::pbf_reader message_of(std::span<const std::byte> content) {
  const std::string_view text = bytes::text_of(content);
  return protozero::pbf_reader(protozero::data_view(text.data(), text.size()));
}

/// For a switch over tag_and_type(): a field with a number, with eight bytes, or with any number of
/// bytes. A field of another kind than expected is skipped as an unknown one is, since reading it
/// as what it is not is an error.
constexpr std::uint32_t number(std::uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t fixed(std::uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::fixed64);
}
constexpr std::uint32_t bytes(std::uint32_t tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}

/// Every number of a field which may be packed.
template <typename Take>
void each_number(protozero::pbf_reader& message, Take take) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::uint64_t value : message.get_packed_uint64()) {
      take(value);
    }
  } else {
    take(message.get_uint64());
  }
}

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
