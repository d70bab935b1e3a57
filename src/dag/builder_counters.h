#pragma once

#include <cstdint>

namespace stackpack::dag {

/// What the builder did, for stats and --timings.
struct BuilderCounters {
  std::uint64_t stacks = 0;  ///< callstacks interned
  std::uint64_t frames = 0;  ///< their frames in all
  /// Frames found in the thread's last callstack, or with a whole recent one: not looked up.
  std::uint64_t prefix_frames = 0;
  std::uint64_t lookups = 0;     ///< look-ups in the map
  std::uint64_t probes = 0;      ///< candidates that they gave, and buckets that had no more
  std::uint64_t node_reads = 0;  ///< nodes read to verify a candidate
  std::uint64_t rehashes = 0;
};

}  // namespace stackpack::dag
