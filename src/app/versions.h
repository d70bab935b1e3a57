#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/library_versions.h"
#include "spk/format/layout.h"
#include "stackpack/version.h"
#include "symbolize/demangler.h"

namespace stackpack::app {

using codec::LibraryVersion;

inline std::string_view program_version() {
  return STACKPACK_VERSION;
}

/// major.minor of the .spk files that this program writes.
inline std::string format_version() {
  return std::to_string(spk::kFormatMajor) + '.' + std::to_string(spk::kFormatMinor);
}

/// The libraries which the program runs with, and what it does without.
inline std::vector<LibraryVersion> library_versions() {
  std::vector<LibraryVersion> versions = codec::library_versions();
  versions.push_back({"libiberty", "(names of C++, Rust and D)"});
  versions.push_back(
      {"LLVM demangler", symbolize::demangles_microsoft_names()
                             ? "(names of Microsoft's compiler)"
                             : "none: names of Microsoft's compiler stay as linked"});
  return versions;
}

}  // namespace stackpack::app
