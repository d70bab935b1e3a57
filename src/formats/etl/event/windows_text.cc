#include "formats/etl/event/windows_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes/utf8.h"

namespace stackpack::etl {

namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

bool is_high(std::uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(std::uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// Appends UTF-16 of which all is ASCII without a NUL; else returns false.
template <std::size_t kSize>
bool append_block(std::span<const std::byte, kSize> wide, std::string& text) {
  std::array<char, kSize / 2> narrow{};
  unsigned others = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const auto low = std::to_integer<std::uint8_t>(wide[2 * i]);
    const auto high = std::to_integer<std::uint8_t>(wide[2 * i + 1]);
    narrow[i] = static_cast<char>(low);
    // The highest bit is that of what is not ASCII, or of the NUL less one.
    others |= high | ((low | (low - 1U)) & 0x80U);
  }
  if (others == 0) {
    text.append(narrow.data(), narrow.size());
  }
  return others == 0;
}

// Most texts are ASCII: blocks that the compiler makes vectors of, then four characters at a time,
// up to the first others or the NUL.
void append_ascii(bytes::ByteCursor& in, std::string& text) {
  constexpr std::size_t kLarge = 32;
  constexpr std::size_t kSmall = 8;
  bytes::ByteCursor ahead = in;
  std::span<const std::byte> rest = ahead.read_bytes(in.remaining());
  while (rest.size() >= kLarge && append_block(rest.first<kLarge>(), text)) {
    rest = rest.subspan(kLarge);
  }
  while (rest.size() >= kSmall && append_block(rest.first<kSmall>(), text)) {
    rest = rest.subspan(kSmall);
  }
  in.skip(in.remaining() - rest.size());
}

}  // namespace

std::string read_wide_text(bytes::ByteCursor& in) {
  std::string text;
  append_wide_text(in, text);
  return text;
}

bool append_wide_text(bytes::ByteCursor& in, std::string& text) {
  append_ascii(in, text);
  bool ended = false;
  std::uint32_t high = 0;  // a high surrogate that waits for its other half
  while (in.remaining() >= 2) {
    const std::uint32_t unit = in.read<std::uint16_t>();
    if (high != 0 && is_low(unit)) {
      bytes::append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
      high = 0;
      continue;
    }
    if (high != 0) {
      bytes::append_utf8(kReplacement, text);
      high = 0;
    }
    if (unit == 0) {
      ended = true;
      break;
    }
    if (is_high(unit)) {
      high = unit;
    } else {
      bytes::append_utf8(is_low(unit) ? kReplacement : unit, text);
    }
  }
  if (high != 0) {
    bytes::append_utf8(kReplacement, text);
  }
  return ended;
}

std::string from_ansi(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    bytes::append_utf8(static_cast<unsigned char>(c), text);
  }
  return text;
}

}  // namespace stackpack::etl
