#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

namespace stackpack::codec {

struct LibraryVersion {
  std::string_view name;
  std::string version;
};

/// The compression, hashing and archive libraries which the program runs with.
inline std::vector<LibraryVersion> library_versions() {
  constexpr unsigned kPart = 100;  // xxHash: major * 10000 + minor * 100 + release
  const unsigned xxhash = XXH_versionNumber();
  return {
      {"zstd", ZSTD_versionString()},
      {"xxHash", std::to_string(xxhash / (kPart * kPart)) + '.' +
                     std::to_string(xxhash / kPart % kPart) + '.' + std::to_string(xxhash % kPart)},
      {"zlib", zlibVersion()},
  };
}

}  // namespace stackpack::codec
