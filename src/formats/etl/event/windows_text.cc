#include "formats/etl/event/windows_text.h"

#include "bytes/utf8.h"

namespace stackpack::etl {

std::string from_ansi(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto point = static_cast<unsigned char>(c);
    if (point < 0x80) {
      text.push_back(c);
    } else {
      bytes::append_utf8(point, text);
    }
  }
  return text;
}

}  // namespace stackpack::etl
