#pragma once

#include <string>

#include "bytes/byte_cursor.h"

namespace stackpack::bytes {

/// Reads UTF-16 up to and including its NUL, or to the end of the window, and gives it as UTF-8.
/// Unpaired surrogates become U+FFFD. An odd last byte is left alone.
std::string read_wide_text(ByteCursor& in);

/// The same, appended to `text`. False: there was no NUL.
bool append_wide_text(ByteCursor& in, std::string& text);

}  // namespace stackpack::bytes
