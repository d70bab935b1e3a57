#pragma once

#include <string>
#include <string_view>

#include "bytes/utf8.h"
#include "bytes/wide_text.h"

namespace stackpack::etl {

using bytes::append_wide_text;
using bytes::read_wide_text;

/// Text in the ANSI code page: ASCII as it is, the rest taken for Latin-1, so that the result is
/// always UTF-8.
inline std::string from_ansi(std::string_view bytes) {
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
