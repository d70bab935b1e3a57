#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stackpack::codec {

struct LibraryVersion {
  std::string_view name;
  std::string version;
};

/// The compression, hashing and archive libraries which the program runs with.
std::vector<LibraryVersion> library_versions();

}  // namespace stackpack::codec
