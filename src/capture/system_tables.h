#pragma once

#include <vector>

#include "stackpack/model.h"
#include "stackpack/sources.h"

namespace stackpack::capture {

/// Processes, threads, modules and metadata as they are at the end of a capture.
struct SystemTables {
  std::vector<Process> processes;       ///< by pid, then start
  std::vector<Thread> threads;          ///< by pid, tid, then start
  std::vector<Module> modules;          ///< by pid (kernel last), base, then start
  std::vector<MetadataEntry> metadata;  ///< by key
  std::vector<MergedSource> sources;    ///< of a merge, by start, then id; else empty
};

}  // namespace stackpack::capture
