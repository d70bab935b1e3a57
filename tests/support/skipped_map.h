// The skipped bytes of a capture as a map, to be compared in one go.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "capture/byte_account.h"

namespace stackpack::test {

using SkippedMap = std::map<std::string, std::uint64_t>;

inline SkippedMap skipped_map(const capture::ByteAccount& account) {
  SkippedMap map;
  for (const SkippedBytesCount& count : account.skipped.sorted()) {
    map.emplace(count.reason, count.bytes);
  }
  return map;
}

}  // namespace stackpack::test
