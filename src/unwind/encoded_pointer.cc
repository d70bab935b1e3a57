#include "unwind/encoded_pointer.h"

#include "unwind/stack_expression.h"

namespace stackpack::unwind {

namespace {

// The low half of an encoding says how the number is written, the high half what it is relative to.
// Linux Standard Base, "DWARF Exception Header Encoding".
constexpr std::uint8_t kFormatMask = 0x0F;
constexpr std::uint8_t kBaseMask = 0x70;
constexpr std::uint8_t kIndirect = 0x80;
constexpr std::uint8_t kRelativeToPlace = 0x10;
constexpr std::uint8_t kRelativeToData = 0x30;

template <typename Signed, typename Unsigned>
std::uint64_t widened(Unsigned value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<Signed>(value)));
}

}  // namespace

std::optional<std::uint64_t> read_encoded_size(bytes::ByteCursor& in, std::uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case 0x00:  // a word
    case 0x04:
    case 0x0C:
      return in.read<std::uint64_t>();
    case 0x01:
      return in.read_varint();
    case 0x02:
      return in.read<std::uint16_t>();
    case 0x03:
      return in.read<std::uint32_t>();
    case 0x09:
      return static_cast<std::uint64_t>(read_signed_varint(in));
    case 0x0A:
      return widened<std::int16_t>(in.read<std::uint16_t>());
    case 0x0B:
      return widened<std::int32_t>(in.read<std::uint32_t>());
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> read_encoded(bytes::ByteCursor& in, std::uint8_t encoding,
                                          const PointerBases& bases) {
  const std::uint64_t place = bases.section + in.position();
  const std::optional<std::uint64_t> number = read_encoded_size(in, encoding);
  if (!number || (encoding & kIndirect) != 0) {
    return std::nullopt;
  }
  switch (encoding & kBaseMask) {
    case 0:
      return number;
    case kRelativeToPlace:
      return *number + place;
    case kRelativeToData:
      return *number + bases.data;
    default:
      return std::nullopt;
  }
}

}  // namespace stackpack::unwind
