#pragma once

#include <string>
#include <string_view>

namespace stackpack::codec {

/// The name of a member in UTF-8. `is_utf8`: the archive says so. Otherwise it is in code page 437,
/// as the format has it, unless it is UTF-8 all the same, as most writers of today have it.
std::string zip_name(std::string_view stored, bool is_utf8);

}  // namespace stackpack::codec
