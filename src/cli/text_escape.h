// Names out of captures can hold any byte: this makes them safe for a line of text and for JSON.
#pragma once

#include <string>
#include <string_view>

namespace stackpack::cli {

/// Appends `text` with control characters and backslashes as \t, \n, \\, \xNN: one line, no tab.
void append_escaped(std::string& out, std::string_view text);

/// Whether `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

/// `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string to_utf8(std::string_view text);

}  // namespace stackpack::cli
