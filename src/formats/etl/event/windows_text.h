#pragma once

#include <string>
#include <string_view>

#include "bytes/wide_text.h"

namespace stackpack::etl {

using bytes::append_wide_text;
using bytes::read_wide_text;

/// Text in the ANSI code page: ASCII as it is, the rest taken for Latin-1, so that the result is
/// always UTF-8.
std::string from_ansi(std::string_view bytes);

}  // namespace stackpack::etl
