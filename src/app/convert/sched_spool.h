#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "app/convert/pending_table.h"
#include "app/convert/spool_codec.h"
#include "capture/wait_facts.h"
#include "core/number_table.h"
#include "scratch/external_sort.h"
#include "stackpack/result.h"
#include "waits/wait_engine.h"

namespace stackpack::app {

/// A record of a switch whose callstack is a node of a builder.
struct SchedRow : capture::SchedRecord {
  std::uint32_t node = 0;
  std::uint32_t pending = SpooledSample::kNoPending;
  std::uint16_t segment = 0;
};

/// Sorts records of switches by time in bounded memory, and counts what a WaitPlan asks for.
///
/// Memory: nothing without records; else that of an ExternalSort of kRows, and the ids of at most
/// ThreadTable::kMostThreads threads.
class SchedSpool {
 public:
  explicit SchedSpool(std::string scratch_directory);

  Status add(const capture::SchedRecord& record, const NodeRef& node, std::uint32_t pending);

  /// Whether there are switches.
  [[nodiscard]] bool has_waits() const;

  /// What the engine must know. Refers to this.
  [[nodiscard]] waits::WaitPlan plan(bool system_wide) const;

  /// All records in order of time. May be called again.
  template <typename Visit>
  Status visit(const Visit& visit) {
    return rows_.visit(visit);
  }

 private:
  static constexpr std::size_t kRows = std::size_t{1} << 16;

  struct ByTime {
    static std::uint64_t key(const SchedRow& row) { return row.time_ns; }
    static bool before(const SchedRow& a, const SchedRow& b) {
      return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
    }
  };

  [[nodiscard]] std::uint64_t count(capture::SchedKind kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }

  scratch::ExternalSort<SchedRow, ByTime> rows_;
  std::array<std::uint64_t, static_cast<std::size_t>(capture::SchedKind::kWaitEnd) + 1> counts_{};
  core::NumberTable<std::uint32_t> own_threads_;
  std::uint64_t start_ns_ = ~std::uint64_t{0};
  std::uint64_t end_ns_ = 0;
};

}  // namespace stackpack::app
