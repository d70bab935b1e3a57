#pragma once

#include <algorithm>
#include <cstdint>

#include "stackpack/convert.h"

namespace stackpack::app {

/// Who gets how much of --memory-limit, in bytes.
///
/// The phases follow each other: while the capture is read, builder, pending callstacks and facts
/// share the limit; while the file is written, the builder is gone and ids, tally, counts and the
/// writer's table of edges take its place. What has a fixed size lies outside, in the kFixedBytes
/// that a conversion may take besides: buffers of the spool, the queue, the source, its tables and
/// recent chains, the sample blocks under way, and the program itself.
struct MemoryPlan {
  static constexpr std::uint64_t kLeastLimit = std::uint64_t{16} << 20;
  static constexpr std::uint64_t kFixedBytes = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

  std::uint64_t limit = 0;                   ///< 0: none but the machine
  std::uint64_t builder_bytes = 0;           ///< 0: as much as there is
  std::uint64_t cache_bytes = 0;             ///< of them for its caches; 0: what becomes them
  std::uint64_t fact_bytes = 256 * kMiB;     ///< processes, threads, modules
  std::uint64_t function_bytes = 16 * kMiB;  ///< functions that the capture names
  std::uint64_t branch_bytes = 16 * kMiB;    ///< sums of branches, where there are any
  std::uint64_t pending_bytes = 16 * kMiB;   ///< pending callstacks in memory
  std::uint64_t id_bytes = 64 * kMiB;        ///< pages of node to stack id
  std::uint64_t tally_bytes = 16 * kMiB;     ///< a bit per callstack
  std::uint64_t count_bytes = 64 * kMiB;     ///< counts in place of samples
  std::uint64_t table_bytes = 0;  ///< frame indices, then the writer's edges; 0: what they take
  std::uint64_t spool_bytes = 8 * kMiB;  ///< samples on their way to disk

  static MemoryPlan of_limit(std::uint64_t limit) {
    MemoryPlan plan;
    if (limit != 0) {
      plan.limit = limit;
      plan.pending_bytes = std::min(plan.pending_bytes, limit / 16);
      plan.builder_bytes = limit - plan.pending_bytes;
      plan.id_bytes = limit / 4;
      plan.count_bytes = std::min(plan.count_bytes, limit / 4);
      plan.tally_bytes = std::min(plan.tally_bytes, limit / 16);
      // While these are in use, no sample block is under way: a part of the fixed bytes is free.
      plan.table_bytes = 28 * kMiB + limit / 4 * 3;
      plan.function_bytes = std::min(plan.function_bytes, limit / 8);
      plan.branch_bytes = std::min(plan.branch_bytes, limit / 8);
      plan.fact_bytes = std::min(plan.fact_bytes, 12 * kMiB + limit / 8);
    }
    return plan;
  }

  /// Of branch stacks that are kept besides callstacks, and the same again of their cycles: a
  /// quarter of the limit each, which comes off the callstacks' share. What is written of them
  /// comes after the callstacks.
  static MemoryPlan of_branch_stacks(std::uint64_t limit) { return of_limit(limit / 4); }
  /// For distinct branches in them: an eighth of an explicit limit. Without one, more machines than
  /// one must find the same room.
  static std::uint64_t branch_entry_bytes(std::uint64_t limit) {
    return limit == 0 ? 512 * kMiB : limit / 8;
  }

  /// Without --memory-limit: `bound` holds for callstacks and scratch. What decides over content
  /// does not depend on it, since it differs between machines: facts are forgotten beyond the same
  /// number of bytes everywhere, and caches, whose hits the file counts, are of one size.
  static MemoryPlan of_default(std::uint64_t bound) {
    MemoryPlan plan = of_limit(bound);
    plan.cache_bytes = 16 * kMiB;
    plan.fact_bytes = MemoryPlan().fact_bytes;
    return plan;
  }
};

/// The bound of a conversion without --memory-limit.
///
/// It is the same number on every machine, so that the same capture takes as long and as much
/// scratch wherever it is converted; it does not show in the file. Only where it would be more than
/// a quarter of the memory, together with the conversions beside this one, it is less.
struct DefaultMemory {
  static constexpr std::uint64_t kLeast = 3 * MemoryPlan::kLeastLimit;
  static constexpr std::uint64_t kShare = 4;  ///< one part in so many

  /// `usable`: bytes that the process may take; `at_a_time`: conversions that share them.
  static std::uint64_t of_machine(std::uint64_t usable, unsigned at_a_time) {
    return std::clamp(usable / kShare / std::max(1U, at_a_time), kLeast,
                      ConvertOptions::kDefaultMemory);
  }
};

}  // namespace stackpack::app
