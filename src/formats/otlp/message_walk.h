#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_text.h"
#include "io/buffered_reader.h"
#include "stackpack/result.h"
#include <protozero/data_view.hpp>
#include <protozero/pbf_reader.hpp>

namespace stackpack::otlp {

/// A field of a message in a file: a number, or bytes that follow.
struct Field {
  std::uint32_t number = 0;
  bool has_bytes = false;
  std::uint64_t value = 0;  ///< of a number; else the number of bytes
  std::uint64_t begin = 0;  ///< of the bytes
  [[nodiscard]] std::uint64_t end() const { return begin + value; }
};

/// The fields of messages in a file, and of messages in these, one after another. A field with
/// bytes is entered (next() up to its end), loaded or passed over, as the caller likes.
///
/// Memory: a window, and the largest field that is loaded.
/// Errors: those of the source; kCorrupt and kTruncated where the sequence of fields breaks.
class MessageWalk {
 public:
  /// The message in the bytes [begin, end) of a seekable source, which must outlive the object.
  MessageWalk(io::ByteSource& source, std::uint64_t begin, std::uint64_t end);

  /// The next field of the message that ends at `end`; false at the end.
  Result<bool> next(Field& field, std::uint64_t end);

  /// The bytes of the field that next() gave last, valid until the next call. kLimit, and they are
  /// passed over, when there are more than `most`.
  Result<std::span<const std::byte>> load(const Field& field, std::uint64_t most);

  Status skip(const Field& field);

  [[nodiscard]] std::uint64_t offset() const { return reader_.offset(); }

 private:
  Status pass_over(std::uint64_t size);

  io::BufferedReader reader_;
  std::vector<std::byte> bytes_;
};

/// protozero's reader over the bytes of one message. It throws protozero::exception for bytes that
/// make no sense; catch that where a message is taken.
inline protozero::pbf_reader message_of(std::span<const std::byte> content) {
  const std::string_view text = bytes::text_of(content);
  return protozero::pbf_reader(protozero::data_view(text.data(), text.size()));
}

/// For a switch over tag_and_type(): a field of another kind than expected is skipped.
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

}  // namespace stackpack::otlp
