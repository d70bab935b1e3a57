#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/symbolize/image_names.h"
#include "app/symbolize/read_plans.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// How addresses of the kernel are named by a file as /proc/kallsyms.
ReadPlan plan_kallsyms(const std::string& path, const KernelReference& reference);

/// Whether kallsyms of that path can be read and says anything.
/// Errors: those of the file; kUnsupported when it hides its addresses, with what to do.
Status check_kallsyms(const std::string& path);

/// The address that kallsyms of that path has of a symbol; nothing when it has no such symbol.
/// Errors: as check_kallsyms.
Result<std::optional<std::uint64_t>> kallsyms_address(const std::string& path,
                                                      const std::string& symbol);

/// How code is named by a file as perf-PID.map. `root`: what the path is inside of.
ReadPlan plan_perf_map(const std::string& root, const std::string& path);

/// How code is named that a process made at run time: by jit-PID.dump, else by perf-PID.map, of
/// which a folder has one. `monotonic`: times of the capture are those of CLOCK_MONOTONIC.
ReadPlan plan_run_time_code(const std::string& folder, std::uint32_t pid, bool monotonic);

/// How code is named by a jitdump file which the capture says was mapped: as
/// plan_run_time_code(). `root`: where recorded paths are looked for.
ReadPlan plan_jitdump(const std::string& root, const std::string& path, bool monotonic);

}  // namespace stackpack::app
