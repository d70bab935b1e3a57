#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/library_versions.h"

namespace stackpack::app {

std::string_view program_version();

/// major.minor of the .spk files that this program writes.
std::string format_version();

using codec::LibraryVersion;

/// The libraries which the program runs with, and what it does without.
std::vector<LibraryVersion> library_versions();

}  // namespace stackpack::app
