#include "app/unwind/recorded_here.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "capture/time_resolution.h"
#include "io/system_file.h"
#include "io/this_machine.h"

namespace stackpack::app {

namespace {

constexpr std::int64_t kSlackNs = 2'000'000'000;  // of clocks that are not quite the same

std::string_view fact_of(std::span<const MetadataEntry> metadata, std::string_view key) {
  const auto at = std::find_if(metadata.begin(), metadata.end(),
                               [key](const MetadataEntry& entry) { return entry.key == key; });
  return at == metadata.end() ? std::string_view() : std::string_view(at->value);
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() ? std::optional(number)
                                                                    : std::nullopt;
}

std::optional<std::int64_t> changed_at(const std::string& path) {
  io::FileStatus status;
  const bool is_file = !path.empty() && path != "-" && io::look_at(path, status) &&
                       status.kind == io::FileKind::kRegular;
  return is_file ? std::optional(status.modified_ns) : std::nullopt;
}

}  // namespace

bool is_of_this_machine(std::span<const MetadataEntry> metadata) {
  const std::string_view host = fact_of(metadata, "host.name");
  return !host.empty() && host == io::host_name();
}

RecordingTimes times_of_recording(std::optional<std::uint64_t> last_ns,
                                  std::span<const MetadataEntry> metadata,
                                  const std::string& path) {
  RecordingTimes times;
  const std::optional<std::int64_t> written = changed_at(path);
  times.ended_ns = written;
  if (!last_ns || capture::has_no_times(metadata)) {
    return times;
  }
  const std::string_view clock = fact_of(metadata, "clock.id");
  times.wall_offset_ns = number_in(fact_of(metadata, "clock.wall_offset_ns"));
  if (!times.wall_offset_ns && (clock.empty() || clock == "monotonic") &&
      *last_ns <= io::monotonic_now()) {
    times.wall_offset_ns = io::wall_offset_of_monotonic();
  }
  if (times.wall_offset_ns) {
    const std::int64_t ended = static_cast<std::int64_t>(*last_ns) + *times.wall_offset_ns;
    if (written && ended > *written + kSlackNs) {
      times.wall_offset_ns.reset();  // the clock of another start of the machine
    } else {
      times.ended_ns = ended;
    }
  }
  return times;
}

std::optional<std::uint64_t> last_time_of(const capture::SystemTables& tables) {
  std::optional<std::uint64_t> last;
  const auto look_at = [&last](const auto& rows) {
    for (const auto& row : rows) {
      for (const std::uint64_t time : {row.start_ns, row.end_ns}) {
        if (time < kUnknownTime - 1) {
          last = std::max(last.value_or(0), time);
        }
      }
    }
  };
  look_at(tables.processes);
  look_at(tables.threads);
  look_at(tables.modules);
  return last;
}

std::string_view objection_to_map(int descriptor, const MapTimes& times) {
  io::FileStatus status;
  const std::optional<std::int64_t> made = io::made_at(descriptor);
  if (!io::is_of_root_or_us(descriptor)) {
    return "belongs to another user";
  }
  if (!io::look_at(descriptor, status) ||
      (times.started_ns && status.modified_ns + kSlackNs < *times.started_ns)) {
    return "is older than the process";
  }
  if (made && times.ended_ns && *made > *times.ended_ns + kSlackNs) {
    return "was made after the recording";
  }
  return {};
}

void believe_this_machine(symbolize::SymbolPlaces& places, std::span<const MetadataEntry> metadata,
                          const RecordingTimes& times) {
  if (!places.has_root && is_of_this_machine(metadata)) {
    places.in_containers = true;
    places.unchanged_since_ns = times.ended_ns;
    places.of_this_kernel = fact_of(metadata, "os.release") == io::kernel_release();
  }
}

}  // namespace stackpack::app
