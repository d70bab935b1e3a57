#include "codec/zip_names.h"

#include "bytes/utf8.h"

namespace stackpack::codec {

namespace {

// Characters 0x80 to 0xFF of code page 437.
constexpr std::u32string_view kUpperHalf =
    U"ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
    U"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";
static_assert(kUpperHalf.size() == 128);

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = bytes::utf8_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::string zip_name(std::string_view stored, bool is_utf8) {
  if (is_utf8 || is_valid_utf8(stored)) {
    return std::string(stored);
  }
  constexpr unsigned kAscii = 0x80;
  std::string name;
  for (const char letter : stored) {
    const auto byte = static_cast<unsigned char>(letter);
    bytes::append_utf8(byte < kAscii ? byte : kUpperHalf[byte - kAscii], name);
  }
  return name;
}

}  // namespace stackpack::codec
