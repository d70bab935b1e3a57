#include "formats/etl/event/windows_text.h"

#include <cstdint>

namespace stackpack::etl {

namespace {

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

constexpr std::uint32_t kReplacement = 0xFFFD;

bool is_high(std::uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(std::uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// Most texts are ASCII: four characters at a time, up to the first others or the NUL.
void append_ascii(bytes::ByteCursor& in, std::string& text) {
  constexpr std::uint64_t kNotAscii = 0xFF80FF80FF80FF80;
  constexpr std::uint64_t kOnes = 0x0001000100010001;
  constexpr std::uint64_t kHighest = 0x8000800080008000;
  while (in.remaining() >= 8) {
    bytes::ByteCursor ahead = in;
    const auto four = ahead.read<std::uint64_t>();
    const bool has_nul = ((four - kOnes) & ~four & kHighest) != 0;
    if ((four & kNotAscii) != 0 || has_nul) {
      return;
    }
    const char characters[] = {static_cast<char>(four), static_cast<char>(four >> 16),
                               static_cast<char>(four >> 32), static_cast<char>(four >> 48)};
    text.append(characters, sizeof characters);
    in = ahead;
  }
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
      append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
      high = 0;
      continue;
    }
    if (high != 0) {
      append_utf8(kReplacement, text);
      high = 0;
    }
    if (unit == 0) {
      ended = true;
      break;
    }
    if (is_high(unit)) {
      high = unit;
    } else {
      append_utf8(is_low(unit) ? kReplacement : unit, text);
    }
  }
  if (high != 0) {
    append_utf8(kReplacement, text);
  }
  return ended;
}

std::string from_ansi(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    append_utf8(static_cast<unsigned char>(c), text);
  }
  return text;
}

}  // namespace stackpack::etl
