#include "app/merge/source_clock.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace stackpack::app {

std::uint64_t SourceClock::time(std::uint64_t time_ns) const {
  constexpr std::uint64_t kLast = kUnknownTime - 1;
  if (time_ns == kUnknownTime || !wall_offset_ns) {
    return time_ns;
  }
  const auto offset = static_cast<std::uint64_t>(*wall_offset_ns);
  if (*wall_offset_ns < 0) {
    const std::uint64_t back = std::uint64_t{0} - offset;
    return time_ns < back ? 0 : time_ns - back;
  }
  return time_ns > kLast - offset ? kLast : time_ns + offset;
}

std::string_view value_of(std::span<const MetadataEntry> metadata, std::string_view key) {
  const auto found = std::find_if(metadata.begin(), metadata.end(),
                                  [key](const MetadataEntry& entry) { return entry.key == key; });
  return found == metadata.end() ? std::string_view() : std::string_view(found->value);
}

SourceClock SourceClock::of(std::span<const MetadataEntry> metadata) {
  const std::string_view text = value_of(metadata, kWallOffsetKey);
  std::int64_t offset = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), offset);
  SourceClock clock;
  if (!text.empty() && failure == std::errc{} && rest == text.data() + text.size()) {
    clock.wall_offset_ns = offset;
  }
  return clock;
}

}  // namespace stackpack::app
