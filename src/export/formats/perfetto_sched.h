// Which thread each processor ran: the rows of Perfetto's table sched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/job/export_job.h"
#include "stackpack/waits.h"

namespace stackpack::exporting {

/// Makes events sched_switch and sched_waking of the kernel, as ftrace records them, of samples of
/// such events and of intervals: a sample has the processor, and intervals have the other thread.
///
/// Who leaves a processor without that anything says so had it before. What is not known is left
/// out: of two switches at one time nobody can tell whose threads are whose.
/// Memory: a quarter of the limit of the export for switches, in as many passes over samples and
/// intervals as that takes.
class PerfettoSched {
 public:
  /// `put` ends a packet whose content it is given. The job must outlive this.
  PerfettoSched(ExportJob& job, std::span<const std::string> reasons,
                std::function<void(std::string_view packet)> put);

  /// Errors: those of the reader.
  Status write();

 private:
  struct Row {
    std::uint64_t time_ns = 0;
    std::uint32_t cpu = 0;
    bool is_waking = false;
    bool is_known = true;
    std::uint32_t pid = kUnknownId;  // of who left the processor, or of the waker
    std::uint32_t tid = kUnknownId;
    std::uint32_t other_pid = kUnknownId;  // of who got it, or was woken
    std::uint32_t other = 0;               // 0: the idle thread
    std::uint32_t state = 0;               // of who left it, as the kernel has it; 0: able to run
  };
  enum class Kind : std::uint8_t { kNone, kSwitch, kWaking };

  Status collect(std::uint64_t from_ns, std::optional<std::uint64_t>& next_ns);
  void drop_ties();
  Status find_others();
  void take(const WaitInterval& interval);
  void take_woken(const WaitInterval& interval);
  [[nodiscard]] std::uint32_t state_of(const WaitInterval& interval) const;
  [[nodiscard]] std::string_view name_of(std::uint32_t pid, std::uint32_t tid) const;
  void follow_processors();
  void write_bundles();
  void write_row(std::string& bundle, const Row& row) const;

  ExportJob& job_;
  std::span<const std::string> reasons_;
  std::function<void(std::string_view)> put_;
  std::size_t most_rows_;
  bool samples_are_of_next_;  // of who got the processor
  std::vector<Kind> kinds_;   // by event
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string_view> names_;
  std::vector<Row> rows_;  // by time until they are written
};

}  // namespace stackpack::exporting
