// Of times that were rounded on request: what a file says of them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
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

/// The metadata key: times of samples were rounded down, by fewer nanoseconds than its value. It is
/// not there when they are as recorded.
inline constexpr std::string_view kTimeResolutionKey = "samples.time_resolution_ns";

/// The metadata key: `1` where records have no times, and the time of each is its number.
inline constexpr std::string_view kUntimedKey = "samples.untimed";

/// Whether times of samples say nothing but their order: those of an imported profile, and of a
/// capture without times.
inline bool has_no_times(std::span<const MetadataEntry> metadata) {
  return std::any_of(metadata.begin(), metadata.end(), [](const MetadataEntry& entry) {
    return (entry.key == "samples.aggregated" || entry.key == kUntimedKey) && entry.value == "1";
  });
}

/// What the metadata of a file say; 0: times are as recorded.
inline std::uint64_t time_resolution_of(std::span<const MetadataEntry> metadata) {
  std::uint64_t resolution = 0;
  for (const MetadataEntry& entry : metadata) {
    if (entry.key == kTimeResolutionKey) {
      const char* const end = entry.value.data() + entry.value.size();
      const auto [rest, failure] = std::from_chars(entry.value.data(), end, resolution);
      resolution = failure == std::errc{} && rest == end ? resolution : 0;
    }
  }
  return resolution;
}

/// Says it in metadata, which are by key.
inline void set_time_resolution(std::vector<MetadataEntry>& metadata, std::uint64_t resolution_ns) {
  set_metadata(metadata, kTimeResolutionKey, std::to_string(resolution_ns));
}

}  // namespace stackpack::capture
