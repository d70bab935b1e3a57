// Debug files of servers that the user has configured, fetched by the system's own client.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stackpack/result.h"

namespace stackpack::app {

/// A file that a server may have.
struct WantedFile {
  std::string build_id;     ///< hex
  bool executable = false;  ///< the image itself, not its debug information
};

/// How long it may take, and how large a file may be. What the user has set of the client's own
/// limits ($DEBUGINFOD_MAXTIME, $DEBUGINFOD_MAXSIZE) stays.
struct FetchLimits {
  unsigned seconds = 600;  ///< for all files
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
};

struct FetchReport {
  std::uint64_t fetched = 0;
  std::uint64_t not_there = 0;  ///< also those that are too large, or take too long
  std::uint64_t not_asked = 0;  ///< there was no time left
};

/// Runs `debuginfod-find` for each file, which puts it into its cache: caches_of_this_machine().
/// `goes_on(files so far)`: false ends it.
/// Errors: kUsage: $DEBUGINFOD_URLS names no server; kNotFound: the client is not installed;
/// kCancelled; kResource.
Result<FetchReport> fetch_files(std::span<const WantedFile> files, const FetchLimits& limits,
                                const std::function<bool(std::size_t)>& goes_on);

}  // namespace stackpack::app
