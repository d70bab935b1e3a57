#include "app/symbolize/machine_sources.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/symbolize/map_plans.h"
#include "bytes/byte_cursor.h"
#include "io/system_file.h"
#include "io/this_machine.h"
#include "io/utf8_path.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

namespace {

std::string_view value_of(std::span<const MetadataEntry> metadata, std::string_view key) {
  const auto at = std::find_if(metadata.begin(), metadata.end(),
                               [key](const MetadataEntry& entry) { return entry.key == key; });
  return at == metadata.end() ? std::string_view() : std::string_view(at->value);
}

std::string of_environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string() : std::string(value);
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

constexpr std::string_view kRunningList = "/proc/kallsyms";
constexpr std::string_view kHiddenList =
    "/proc/kallsyms of this kernel shows no addresses; root sees them, or everybody after sysctl "
    "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";

// The list of the kernel that runs, for one without a build id.
KernelList running_list_of(const KernelReference& reference, std::string_view release) {
  KernelList list;
  if (release.empty() || release != io::kernel_release() || reference.symbol.empty()) {
    return list;
  }
  const Result<std::optional<std::uint64_t>> listed =
      kallsyms_address(std::string(kRunningList), reference.symbol);
  if (!listed) {
    list.reason = kHiddenList;
  } else if (*listed && **listed == reference.address) {
    list.path = kRunningList;
    list.with_modules = true;
    list.reason = "believed by its release and the address of " + reference.symbol +
                  ": the capture has no build id of it";
  } else {
    list.reason = "the capture has no build id of it, and " + reference.symbol +
                  " of the running kernel is elsewhere; --kallsyms FILE names it";
  }
  return list;
}

// A file of code that a process made at run time, unless something speaks against it.
ReadPlan believed(ReadPlan plan, const MapTimes& times) {
  if (plan.files.empty()) {
    return plan;
  }
  const std::string_view objection = objection_to_map(plan.files.front().get(), times);
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

Result<RecordingTimes> times_of_recording(const Reader& reader,
                                          std::span<const MetadataEntry> metadata,
                                          const std::string& path) {
  const auto range = reader.time_range();
  if (!range) {
    return range.error();
  }
  const bool has_times = range->has_value();
  return times_of_recording(has_times ? std::optional((*range)->to_ns) : std::nullopt, metadata,
                            path);
}

KernelReference kernel_reference_of(std::span<const MetadataEntry> metadata) {
  constexpr int kHex = 16;
  return {std::string(value_of(metadata, "kernel.reference_symbol")),
          std::strtoull(std::string(value_of(metadata, "kernel.reference_address")).c_str(),
                        nullptr, kHex)};
}

Result<MachineSources> look_on_this_machine(const Reader& reader, std::span<const Module> modules,
                                            std::span<const MetadataEntry> metadata,
                                            const std::string& capture,
                                            symbolize::SymbolPlaces& places) {
  MachineSources sources;
  sources.reference = kernel_reference_of(metadata);
  const auto kernel = std::find_if(modules.begin(), modules.end(), [](const Module& module) {
    return module.pid == kKernelPid && module.path.starts_with("[kernel.kallsyms]");
  });
  sources.kernel = kernel == modules.end() ? nullptr : &*kernel;
  if (places.has_root) {
    return sources;
  }
  const std::vector<std::string> caches = caches_of_this_machine();
  places.directories.insert(places.directories.end(), caches.begin(), caches.end());
  sources.is_here = is_of_this_machine(metadata);
  if (sources.kernel != nullptr &&
      plan_kernel_image(*sources.kernel, sources.reference, places).found.empty()) {
    sources.kernel_list =
        kernel_list_of(*sources.kernel, sources.reference, caches,
                       sources.is_here ? value_of(metadata, "os.release") : std::string_view());
  }
  if (sources.is_here) {
    const Result<RecordingTimes> times = times_of_recording(reader, metadata, capture);
    if (!times) {
      return times.error();
    }
    sources.times = *times;
    believe_this_machine(places, metadata, *times);
  }
  return sources;
}

KernelList kernel_list_of(const Module& kernel, const KernelReference& reference,
                          std::span<const std::string> caches, std::string_view release) {
  const bool has_build_id = kernel.build_id_kind == BuildIdKind::kGnu && !kernel.build_id.empty();
  if (!has_build_id) {
    return running_list_of(reference, release);
  }
  KernelList list;
  std::vector<std::string> paths;
  if (is_running_kernel(kernel)) {
    paths.emplace_back(kRunningList);
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
    list.reason = path == kRunningList ? std::string(kHiddenList) : listed.error().what;
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
