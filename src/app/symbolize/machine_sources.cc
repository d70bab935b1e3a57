#include "app/symbolize/machine_sources.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/symbolize/map_plans.h"
#include "bytes/byte_cursor.h"
#include "capture/time_resolution.h"
#include "io/system_file.h"
#include "io/this_machine.h"
#include "io/utf8_path.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

namespace {

constexpr std::int64_t kSlackNs = 2'000'000'000;  // of clocks that are not quite the same

std::string_view value_of(std::span<const MetadataEntry> metadata, std::string_view key) {
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

std::string of_environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::int64_t> changed_at(const std::string& path) {
  io::FileStatus status;
  const bool is_file = !path.empty() && path != "-" && io::look_at(path, status) &&
                       status.kind == io::FileKind::kRegular;
  return is_file ? std::optional(status.modified_ns) : std::nullopt;
}

// The build id among the notes of an ELF file.
std::span<const std::byte> build_id_in(std::span<const std::byte> notes) {
  constexpr std::uint32_t kBuildId = 3;
  constexpr std::uint32_t kAlignment = 4;
  const auto padded = [](std::uint32_t size) {
    return (std::size_t{size} + kAlignment - 1) / kAlignment * kAlignment;
  };
  bytes::ByteCursor in(notes, 0);
  while (in.ok() && in.remaining() != 0) {
    const auto name_size = in.read<std::uint32_t>();
    const auto size = in.read<std::uint32_t>();
    const auto type = in.read<std::uint32_t>();
    const std::span<const std::byte> name = in.read_bytes(padded(name_size));
    const std::span<const std::byte> value = in.read_bytes(padded(size));
    constexpr std::array kName = {std::byte{'G'}, std::byte{'N'}, std::byte{'U'}, std::byte{0}};
    if (in.ok() && type == kBuildId && std::ranges::equal(name, kName)) {
      return value.first(size);
    }
  }
  return {};
}

bool is_running_kernel(const Module& kernel) {
  const std::vector<std::byte> notes = io::running_kernel_notes();
  const std::span<const std::byte> id = build_id_in(notes);
  return !id.empty() && std::equal(id.begin(), id.end(), kernel.build_id.begin(),
                                   kernel.build_id.end(), [](std::byte a, std::uint8_t b) {
                                     return std::to_integer<std::uint8_t>(a) == b;
                                   });
}

// perf keeps a copy of the list beside what else it has of a build id.
std::string kept_list(const Module& kernel, std::span<const std::string> caches) {
  constexpr std::size_t kFirst = 2;
  const std::string id = symbolize::build_id_text(kernel.build_id);
  for (const std::string& folder : caches) {
    std::string path = folder + "/.build-id/" + id.substr(0, kFirst) + "/" +
                       id.substr(std::min(kFirst, id.size())) + "/kallsyms";
    std::error_code failed;
    if (std::filesystem::is_regular_file(io::path_of(path), failed)) {
      return path;
    }
  }
  return {};
}

// A file of code that a process made at run time, unless something speaks against it.
ReadPlan believed(ReadPlan plan, const MapTimes& times) {
  if (plan.files.empty()) {
    return plan;
  }
  const int file = plan.files.front().get();
  io::FileStatus status;
  const std::optional<std::int64_t> made = io::made_at(file);
  std::string_view objection;
  if (!io::is_of_root_or_us(file)) {
    objection = "belongs to another user";
  } else if (!io::look_at(file, status) ||
             (times.started_ns && status.modified_ns + kSlackNs < *times.started_ns)) {
    objection = "is older than the process";
  } else if (made && times.ended_ns && *made > *times.ended_ns + kSlackNs) {
    objection = "was made after the recording";
  }
  if (!objection.empty()) {
    ReadPlan refused;
    refused.reason = plan.found + " " + std::string(objection) + "; --perf-map /tmp believes it";
    return refused;
  }
  return plan;
}

}  // namespace

std::vector<std::string> caches_of_this_machine() {
  const std::string home = of_environment("HOME");
  const std::string caches = of_environment("XDG_CACHE_HOME");
  std::vector<std::string> folders;
  const auto add = [&folders](const std::string& base, std::string_view below) {
    std::string folder = base.empty() ? std::string() : base + std::string(below);
    std::error_code failed;
    if (std::filesystem::is_directory(io::path_of(folder), failed)) {
      folders.push_back(std::move(folder));
    }
  };
  add(home, "/.debug");
  add(of_environment("DEBUGINFOD_CACHE_PATH"), "");
  add(caches.empty() ? home + "/.cache" : caches, "/debuginfod_client");
  add(home, "/.debuginfod_client_cache");
  return folders;
}

bool is_of_this_machine(std::span<const MetadataEntry> metadata) {
  const std::string_view host = value_of(metadata, "host.name");
  return !host.empty() && host == io::host_name();
}

Result<RecordingTimes> times_of_recording(const Reader& reader,
                                          std::span<const MetadataEntry> metadata,
                                          const std::string& path) {
  const auto range = reader.time_range();
  if (!range) {
    return range.error();
  }
  RecordingTimes times;
  const std::optional<std::int64_t> written = changed_at(path);
  times.ended_ns = written;
  if (!range->has_value() || capture::has_no_times(metadata)) {
    return times;
  }
  const std::uint64_t last = (*range)->to_ns;
  const std::string_view clock = value_of(metadata, "clock.id");
  times.wall_offset_ns = number_in(value_of(metadata, "clock.wall_offset_ns"));
  if (!times.wall_offset_ns && (clock.empty() || clock == "monotonic") &&
      last <= io::monotonic_now()) {
    times.wall_offset_ns = io::wall_offset_of_monotonic();
  }
  if (times.wall_offset_ns) {
    const std::int64_t ended = static_cast<std::int64_t>(last) + *times.wall_offset_ns;
    if (written && ended > *written + kSlackNs) {
      times.wall_offset_ns.reset();  // the clock of another start of the machine
    } else {
      times.ended_ns = ended;
    }
  }
  return times;
}

KernelList kernel_list_of(const Module& kernel, const KernelReference& reference,
                          std::span<const std::string> caches) {
  KernelList list;
  if (kernel.build_id_kind != BuildIdKind::kGnu || kernel.build_id.empty()) {
    return list;
  }
  std::vector<std::string> paths;
  if (is_running_kernel(kernel)) {
    paths.emplace_back("/proc/kallsyms");
  }
  if (std::string kept = kept_list(kernel, caches); !kept.empty()) {
    paths.push_back(std::move(kept));
  }
  for (const std::string& path : paths) {
    const Result<std::optional<std::uint64_t>> listed = kallsyms_address(path, reference.symbol);
    if (listed) {
      list.path = path;
      list.reason.clear();
      list.with_modules = !reference.symbol.empty() && *listed && **listed == reference.address;
      break;
    }
    list.reason = path == "/proc/kallsyms"
                      ? "/proc/kallsyms of this kernel shows no addresses; root sees them, or "
                        "everybody after sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"
                      : listed.error().what;
  }
  return list;
}

ReadPlan plan_map_of_process(std::uint32_t pid, const MapTimes& times) {
  ReadPlan plan = plan_perf_map("", "/tmp/perf-" + std::to_string(pid) + ".map");
  if (plan.files.empty()) {
    if (const std::optional<std::uint32_t> inside = io::pid_inside(pid)) {
      ReadPlan contained = plan_perf_map("/proc/" + std::to_string(pid) + "/root",
                                         "/tmp/perf-" + std::to_string(*inside) + ".map");
      plan = contained.files.empty() ? std::move(plan) : std::move(contained);
    }
  }
  return believed(std::move(plan), times);
}

ReadPlan plan_jitdump_of_process(const std::string& path, bool monotonic, const MapTimes& times) {
  return believed(plan_jitdump("", path, monotonic), times);
}

}  // namespace stackpack::app
