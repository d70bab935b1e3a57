#include "app/versions.h"

#include "spk/format/layout.h"
#include "stackpack/version.h"
#include "symbolize/demangler.h"

namespace stackpack::app {

std::string_view program_version() {
  return STACKPACK_VERSION;
}

std::string format_version() {
  return std::to_string(spk::kFormatMajor) + '.' + std::to_string(spk::kFormatMinor);
}

std::vector<LibraryVersion> library_versions() {
  std::vector<LibraryVersion> versions = codec::library_versions();
  versions.push_back({"libiberty", "(names of C++, Rust and D)"});
  versions.push_back(
      {"LLVM demangler", symbolize::demangles_microsoft_names()
                             ? "(names of Microsoft's compiler)"
                             : "none: names of Microsoft's compiler stay as linked"});
  return versions;
}

}  // namespace stackpack::app
