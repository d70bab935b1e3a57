// What this machine has that names a capture, without anybody saying where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/symbolize/image_names.h"
#include "app/symbolize/read_plans.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Folders with files by build id that tools keep on this machine: perf's ~/.debug, and the cache
/// of the debuginfod client, which is not asked to fetch anything. Those that are there.
std::vector<std::string> caches_of_this_machine();

/// Whether a capture says that it is of this machine: the name of its host is that of this one.
/// One that has no host is of another machine.
bool is_of_this_machine(std::span<const MetadataEntry> metadata);

/// When something was recorded, by the wall clock: ns since 1970. Nothing: not known.
struct RecordingTimes {
  std::optional<std::int64_t> wall_offset_ns;  ///< to be added to times of the capture
  std::optional<std::int64_t> ended_ns;
};

/// The capture says the offset where it knows the wall clock. Otherwise its clock counts from the
/// start of this machine, for one that was recorded here, unless the file `path`, into which the
/// recording went, was written too early for that. Without an offset the recording ended when that
/// file was written. Errors: those of the reader.
Result<RecordingTimes> times_of_recording(const Reader& reader,
                                          std::span<const MetadataEntry> metadata,
                                          const std::string& path);

/// The list of symbols of a kernel that names a capture.
struct KernelList {
  std::string path;           ///< empty: none
  bool with_modules = false;  ///< of the recorded start: modules lie where the list has them
  std::string reason{};       ///< why there is none, and what to do; may be empty
};

/// A list that is trusted by the build id of the kernel: /proc/kallsyms where the kernel that runs
/// is the recorded one, else the copy that perf keeps in a folder of `caches`.
KernelList kernel_list_of(const Module& kernel, const KernelReference& reference,
                          std::span<const std::string> caches);

/// When a process started and the recording ended, in ns since 1970. Nothing: not known.
struct MapTimes {
  std::optional<std::int64_t> started_ns;
  std::optional<std::int64_t> ended_ns;
};

/// How code is named that a process of this machine made at run time: by /tmp/perf-PID.map, also in
/// the container of a process that still runs.
///
/// A file counts that belongs to this user or to root, was written after the process started and
/// was made before the recording ended; times that are not known forbid nothing.
ReadPlan plan_map_of_process(std::uint32_t pid, const MapTimes& times);

/// The same by a jitdump file that the process has mapped. `monotonic`: as plan_jitdump().
ReadPlan plan_jitdump_of_process(const std::string& path, bool monotonic, const MapTimes& times);

}  // namespace stackpack::app
