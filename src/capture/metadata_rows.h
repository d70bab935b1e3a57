#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::capture {

/// Sets a value in metadata, which are by key.
inline void set_metadata(std::vector<MetadataEntry>& metadata, std::string_view key,
                         std::string value) {
  auto at = std::lower_bound(
      metadata.begin(), metadata.end(), key,
      [](const MetadataEntry& entry, std::string_view wanted) { return entry.key < wanted; });
  if (at == metadata.end() || at->key != key) {
    at = metadata.insert(at, {std::string(key), {}});
  }
  at->value = std::move(value);
}

}  // namespace stackpack::capture
