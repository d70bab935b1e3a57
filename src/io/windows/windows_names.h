#pragma once

#include <string>
#include <string_view>

namespace stackpack::io {

/// UTF-16 of a UTF-8 text; what is no UTF-8 becomes U+FFFD.
std::wstring to_utf16(std::string_view text);

/// UTF-8 of a UTF-16 text; halves of surrogate pairs become U+FFFD.
std::string to_utf8(std::wstring_view text);

/// A path for the calls of the system: UTF-16, and from 240 characters on absolute and in the form
/// `\\?\`, which has no limit of 260.
std::wstring system_path(const std::string& path);

/// Sets errno to what the last error of the system means.
void set_errno();

}  // namespace stackpack::io
