#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace stackpack::io {

inline constexpr std::uint64_t kNoMemoryLimit = std::numeric_limits<std::uint64_t>::max();

/// Bytes of memory that this process may take at most: what the machine has, or the least limit of
/// the control groups (on Windows: of the job) that it is in. kNoMemoryLimit when nothing is known.
std::uint64_t usable_memory();

#ifndef _WIN32
/// The least memory limit of this process's control groups, of either version, and of those above
/// them as far as they can be seen. `root` is the folder below which proc and the mount points are
/// looked for; empty: the system's. kNoMemoryLimit when there is no limit, or no control group.
std::uint64_t control_group_limit(const std::string& root);
#endif

}  // namespace stackpack::io
