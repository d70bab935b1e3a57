// Whether bytes can be the beginning of a message of protobuf of a kind that is known: what formats
// of protobuf are told apart by, in whatever order their fields stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::protobuf {

struct MessageShape;

enum class FieldKind : std::uint8_t {
  kNumber,
  kNumbers,  ///< one, or several in a field of bytes
  kFixed,    ///< eight bytes
  kBytes,    ///< a text, or a message that is not looked into
  kMessage,
};

struct FieldShape {
  std::uint32_t number = 0;
  FieldKind kind = FieldKind::kNumber;
  const MessageShape* message = nullptr;  ///< of kMessage
};

struct MessageShape {
  std::span<const FieldShape> fields;
};

struct ShapeFit {
  bool fits = false;            ///< every field is one of the shape, or of a number that it lacks
  std::size_t unknown = 0;      ///< fields whose number it lacks, inner messages included
  std::uint64_t seen_bits = 0;  ///< bit N: field N is there, for N below 64

  [[nodiscard]] bool has(unsigned number) const { return (seen_bits >> number & 1) != 0; }
};

/// Compares the first bytes of a message, or all of them if `whole`. A field that is cut where the
/// bytes end fits, unless `whole`.
ShapeFit fit_of(std::span<const std::byte> head, const MessageShape& shape, bool whole);

}  // namespace stackpack::protobuf
