#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/stack_view.h"
#include "dag/frozen_dag.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

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

/// Index of a node in a builder: 0 is the root; a parent's index is below its children's.
enum class NodeIndex : std::uint32_t {};
inline constexpr NodeIndex kRoot{0};

/// Phase 1: interns callstacks as nodes (parent, frame) of an append-only DAG.
///
/// Threads: one at a time. Memory: memory_bytes() in all, at most Options::memory_limit.
class Builder {
 public:
  struct Options {
    /// Bytes for store, map, caches and the scratch of freeze(); 0 = no limit but the machine. A
    /// builder that could not hold its caches at their largest (2.5 MB) takes no callstack.
    std::uint64_t memory_limit = 0;
    /// Of them for the last callstack of each thread; 0: 16 MiB, or a sixteenth of the limit where
    /// that is less.
    std::uint64_t cache_bytes = 0;
  };

  explicit Builder(const Options& options);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder();

  /// A callstack to intern. `thread` selects the cache of the last callstack; any number will do.
  struct Arrival {
    capture::StackView stack;
    std::uint64_t thread = 0;
  };

  /// Interns the first ones of `arrivals` (not empty), in their order, and puts the nodes of their
  /// leaves into `nodes`, which is as long; kRoot for an empty callstack. The nodes are those that
  /// one at a time would get; several take less time, since their waits for memory overlap.
  /// Result: how many were interned, at least one; offer the others again.
  /// Errors: those of the first one, and nothing was added then. kLimit when the next nodes would
  ///         pass the memory limit or the node count, kResource when the system has no memory for
  ///         them; the builder can still be frozen.
  ///         kUnsupported: deeper than kMaxDepth.
  Result<std::size_t> intern_some(std::span<const Arrival> arrivals, std::span<NodeIndex> nodes);

  /// The same for a single one.
  Result<NodeIndex> intern(const capture::StackView& stack, std::uint64_t thread);

  [[nodiscard]] std::uint32_t node_count() const;  ///< root included
  [[nodiscard]] NodeIndex parent(NodeIndex node) const;
  [[nodiscard]] Frame frame(NodeIndex node) const;
  [[nodiscard]] const BuilderCounters& counters() const;
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::uint64_t map_bytes() const;

  /// The DAG in canonical order, and for each node of this builder the rank of the callstack that
  /// ends there (kNoStack where none does). The map is released first; the builder is empty after.
  struct Frozen {
    FrozenDag dag;
    std::vector<StackId> stack_of_node;
  };
  Frozen freeze();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackpack::dag
