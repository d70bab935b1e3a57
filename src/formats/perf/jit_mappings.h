#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::perf {

/// Code that a compiler made at run time and described in symbol files, as Android's simpleperf
/// records it: a part of a process' memory under the path of such a file. The symbols of the file
/// have addresses in memory.
class JitMappings {
 public:
  struct Mapping {
    std::uint32_t pid = kUnknownId;
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint64_t start_ns = kUnknownTime;
  };

  /// Bound of what a hostile input can make us keep.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  /// False: there is no room for it.
  bool add(std::string_view path, const Mapping& mapping) {
    const auto known = of_path_.find(path);
    const std::size_t bytes =
        kMappingBytes + (known == of_path_.end() ? path.size() + kPathBytes : 0);
    if (bytes > kMaxBytes - bytes_) {
      return false;
    }
    bytes_ += bytes;
    auto& mappings = known == of_path_.end() ? of_path_[std::string(path)] : known->second;
    mappings.push_back(mapping);
    return true;
  }

  /// Calls `take(mapping)` for each with that path which holds a byte of the code; false when the
  /// path has none at all.
  template <typename Take>
  bool for_each_at(std::string_view path, std::uint64_t start, std::uint64_t size,
                   const Take& take) const {
    const auto found = of_path_.find(path);
    if (found == of_path_.end()) {
      return false;
    }
    for (const Mapping& mapping : found->second) {
      if (start < mapping.base ? mapping.base - start < size
                               : start - mapping.base < mapping.size) {
        take(mapping);
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kPathBytes = 128;    // of a row, about
  static constexpr std::size_t kMappingBytes = 64;  // twice its size: a vector grows by doubling

  std::map<std::string, std::vector<Mapping>, std::less<>> of_path_;
  std::size_t bytes_ = 0;
};

}  // namespace stackpack::perf
