#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// The sources of a merge, each once, and from which input each is read.
///
/// Of several files with the same source the one counts that names more functions; which, does not
/// depend on the order of the inputs.
class SourceSet {
 public:
  /// The sources that an input has, in their order. Result: how many were there before.
  std::size_t add(std::uint32_t input, std::span<const MergedSource> sources);

  /// After the last: puts them in order, by start, then id.
  void finish();

  /// After finish(): the place in sources() of source number `index` of an input; nothing when it
  /// is read from another one.
  [[nodiscard]] std::optional<std::uint32_t> rank(std::uint32_t input, std::uint32_t index) const;

  /// After finish(); the caller fills in the pids.
  [[nodiscard]] std::vector<MergedSource>& sources() { return sources_; }
  [[nodiscard]] const std::vector<MergedSource>& sources() const { return sources_; }

 private:
  struct Chosen {
    MergedSource source;
    std::uint32_t input = 0;
    std::uint32_t index = 0;
  };

  std::map<MergedSource::Hash, Chosen> by_id_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ranks_;  // by input and index
  std::vector<MergedSource> sources_;
};

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
