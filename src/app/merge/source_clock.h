#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stackpack/model.h"

namespace stackpack::app {

/// From the times of an input to those of a merge: wall time where the input knows it.
struct SourceClock {
  std::optional<std::int64_t> wall_offset_ns;  ///< none: times stay as they are

  /// Keeps the order of times, and kUnknownTime. Stops at the ends of what a time can be.
  [[nodiscard]] std::uint64_t time(std::uint64_t time_ns) const;

  /// By what the metadata of a capture say.
  static SourceClock of(std::span<const MetadataEntry> metadata);
};

inline constexpr std::string_view kWallOffsetKey = "clock.wall_offset_ns";

/// The value of a key; empty when it is not there.
std::string_view value_of(std::span<const MetadataEntry> metadata, std::string_view key);

}  // namespace stackpack::app
