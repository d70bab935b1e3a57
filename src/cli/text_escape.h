// Names out of captures can hold any byte: this makes them safe for a line of text and for JSON.
#pragma once

#include <string>
#include <string_view>

namespace stackpack::cli {

/// Appends `text` with backslashes, tabs and line ends as \\, \t, \n, and as \xNN each byte of what
/// a terminal would obey or hide instead of showing it: control characters (C0, DEL, C1), the marks
/// that turn the direction of text, line separators, invisible characters, and all that is not
/// UTF-8. One line, no tab.
void append_escaped(std::string& out, std::string_view text);

/// The same, but backslashes stay: for messages, parts of which may be escaped already.
void append_message(std::string& out, std::string_view text);

/// The characters that HTML and XML give a meaning to, as entities: for text and for attributes.
std::string markup_of(std::string_view text);

/// JSON with those of them that JSON allows in strings as \uNNNN: the same values.
std::string escape_json_controls(std::string_view json);

/// Whether `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

/// As a shell takes it back, byte by byte, for one word. Not for a terminal: see
/// shown_shell_word().
std::string shell_word(std::string_view word);

/// The same without what a terminal would obey.
std::string shown_shell_word(std::string_view word);

}  // namespace stackpack::cli
