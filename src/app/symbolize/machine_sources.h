// What this machine has that names a capture, without anybody saying where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/symbolize/image_names.h"
#include "app/symbolize/read_plans.h"
#include "app/unwind/recorded_here.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// Folders with files by build id that tools keep on this machine: perf's ~/.debug, and the cache
/// of the debuginfod client, which is not asked to fetch anything. Those that are there.
std::vector<std::string> caches_of_this_machine();

/// As times_of_recording() of recorded_here.h, by the last sample. Errors: those of the reader.
Result<RecordingTimes> times_of_recording(const Reader& reader,
                                          std::span<const MetadataEntry> metadata,
                                          const std::string& path);

/// The list of symbols of a kernel that names a capture.
struct KernelList {
  std::string path;           ///< empty: none
  bool with_modules = false;  ///< of the recorded start: modules lie where the list has them
  /// Why there is none, and what to do; or why it is believed without a build id. May be empty.
  std::string reason{};
};

/// A list that is trusted by the build id of the kernel: /proc/kallsyms where the kernel that runs
/// is the recorded one, else the copy that perf keeps in a folder of `caches`. Where no build id
/// was recorded, as in pipes and compressed captures, the kernel that runs is the recorded one if
/// its release is `release` and the symbol of the reference has the recorded address. `release`:
/// empty for a capture of another machine.
KernelList kernel_list_of(const Module& kernel, const KernelReference& reference,
                          std::span<const std::string> caches, std::string_view release);

/// What names a capture, unasked and by the user's will.
struct MachineSources {
  KernelReference reference;
  const Module* kernel = nullptr;  ///< the recorded one, in the table of modules
  KernelList kernel_list;
  bool is_here = false;  ///< the capture is of this machine
  RecordingTimes times;  ///< where it is
};

/// Looks for them. `places` afterwards has the folders and files of this machine that name it.
/// `capture`: the file into which the recording went. Errors: those of the reader.
Result<MachineSources> look_on_this_machine(const Reader& reader, std::span<const Module> modules,
                                            std::span<const MetadataEntry> metadata,
                                            const std::string& capture,
                                            symbolize::SymbolPlaces& places);

/// The symbol after which the kernel's own mapping is called.
KernelReference kernel_reference_of(std::span<const MetadataEntry> metadata);

/// How code is named that a process of this machine made at run time: by /tmp/perf-PID.map, also in
/// the container of a process that still runs.
///
/// A file counts that belongs to this user or to root, was written after the process started and
/// was made before the recording ended; times that are not known forbid nothing.
ReadPlan plan_map_of_process(std::uint32_t pid, const MapTimes& times);

/// The same by a jitdump file that the process has mapped. `monotonic`: as plan_jitdump().
ReadPlan plan_jitdump_of_process(const std::string& path, bool monotonic, const MapTimes& times);

}  // namespace stackpack::app
