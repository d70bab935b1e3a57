#include "formats/jfr/number_coding.h"

#include "bytes/byte_text.h"
#include "bytes/utf8.h"

namespace stackpack::jfr {

namespace {

// Source: jdk.jfr.internal.StringParser.
enum TextCoding : std::uint8_t {
  kNull = 0,
  kEmpty = 1,
  kConstant = 2,
  kUtf8 = 3,
  kCharacters = 4,
  kLatin1 = 5,
};

constexpr char32_t kReplacement = 0xFFFD;

// A unit of UTF-16; `high` is the first half of a pair that has begun, or 0.
void append_unit(char32_t unit, char32_t& high, std::string& out) {
  const bool ends_pair = unit >= 0xDC00 && unit <= 0xDFFF;
  if (high != 0) {
    bytes::append_utf8(
        ends_pair ? 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00) : kReplacement, out);
    high = 0;
    if (ends_pair) {
      return;
    }
  }
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    high = unit;
  } else {
    bytes::append_utf8(ends_pair ? kReplacement : unit, out);
  }
}

}  // namespace

std::uint64_t NumberCoding::read_compressed(bytes::ByteCursor& in) {
  constexpr unsigned kLastShift = 56;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift; shift += 7) {
    const auto byte = in.read<std::uint8_t>();
    if (shift == kLastShift) {
      return value | std::uint64_t{byte} << shift;
    }
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) {
      break;
    }
  }
  return value;
}

std::uint64_t NumberCoding::read_text(bytes::ByteCursor& in, std::string& out) const {
  out.clear();
  switch (in.read<std::uint8_t>()) {
    case kNull:
    case kEmpty:
      return 0;
    case kConstant:
      return read_long(in);
    case kUtf8:
      out = bytes::text_of(in.read_bytes(read_int(in)));
      return 0;
    case kLatin1:
      for (const std::byte byte : in.read_bytes(read_int(in))) {
        bytes::append_utf8(std::to_integer<std::uint32_t>(byte), out);
      }
      return 0;
    case kCharacters: {
      const std::uint32_t count = read_int(in);
      if (count > in.remaining()) {  // each takes a byte at least
        in.skip(count);
        return 0;
      }
      char32_t high = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        append_unit(read_short(in), high, out);
      }
      if (high != 0) {
        bytes::append_utf8(kReplacement, out);
      }
      return 0;
    }
    default:
      in.skip(in.remaining() + 1);
      return 0;
  }
}

}  // namespace stackpack::jfr
