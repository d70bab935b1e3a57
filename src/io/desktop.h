#pragma once

#include <string>
#include <string_view>

#include "stackpack/result.h"

namespace stackpack::io {

/// Makes an empty file in the system's temporary directory that nobody else may read: its name ends
/// with `suffix`. It stays. Errors: kIo.
Result<std::string> make_private_file(std::string_view suffix);

/// Removes a file that make_private_file() made.
void remove_private_file(const std::string& path);

/// Opens a file with the program that the desktop has for it (xdg-open), which goes on by itself.
/// False: there is no display, or no such program.
bool open_on_desktop(const std::string& path);

}  // namespace stackpack::io
