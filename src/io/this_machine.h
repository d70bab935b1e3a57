#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::io {

// What can be found out about the machine that this runs on. What it does not tell, as on Windows,
// is empty.

/// As captures have it: what uname calls the node.
std::string host_name();

/// The release of the kernel that runs, as uname says it.
std::string kernel_release();

/// The notes of the kernel that runs, as ELF files have them: with its build id.
std::vector<std::byte> running_kernel_notes();

/// What is to be added to CLOCK_MONOTONIC to get nanoseconds since 1970.
std::optional<std::int64_t> wall_offset_of_monotonic();
/// CLOCK_MONOTONIC, ns.
std::uint64_t monotonic_now();

/// Whether an open file belongs to root or to the user of this process.
bool is_of_root_or_us(int descriptor);

/// When an open file was made, in ns since 1970, where the file system keeps that.
std::optional<std::int64_t> made_at(int descriptor);

/// An open file as its file system knows it.
struct FileOnDisk {
  MappedFile file;
  std::int64_t changed_ns = 0;  ///< of content or attributes, in ns since 1970: nobody sets it back
};
std::optional<FileOnDisk> file_on_disk(int descriptor);

/// What a running process is called in its own container; its pid where it is in none. Nothing when
/// there is no such process.
std::optional<std::uint32_t> pid_inside(std::uint32_t pid);

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
