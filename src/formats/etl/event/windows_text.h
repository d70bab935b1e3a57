#pragma once

#include <string>
#include <string_view>

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

/// Reads UTF-16 up to and including its NUL, or to the end of the window, and gives it as UTF-8.
/// Unpaired surrogates become U+FFFD. An odd last byte is left alone.
std::string read_wide_text(bytes::ByteCursor& in);

/// The same, appended to `text`. False: there was no NUL.
bool append_wide_text(bytes::ByteCursor& in, std::string& text);

/// Text in the ANSI code page: ASCII as it is, the rest taken for Latin-1, so that the result is
/// always UTF-8.
std::string from_ansi(std::string_view bytes);

}  // namespace stackpack::etl
