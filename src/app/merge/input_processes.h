#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "app/merge/source_set.h"
#include "core/number_table.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// Numbers of the processes of a merge: by source and recorded pid.
///
/// While inputs are read they get numbers in the order of their arrival; the numbers of the file,
/// from 1 on by source and pid, are known in the end.
class PidNumbers {
 public:
  /// The number of a process of the source with that rank, which is added when it is new.
  std::uint32_t number(std::uint32_t rank, std::uint32_t recorded_pid) {
    return pids_.number(std::uint64_t{rank} << 32 | recorded_pid);
  }

  struct Final {
    std::vector<std::uint32_t> pids;                  ///< of the file, by number
    std::vector<std::vector<std::uint32_t>> sources;  ///< by rank: the recorded ones, ascending
  };
  [[nodiscard]] Final finish(std::uint32_t sources) const;

 private:
  core::NumberTable<std::uint64_t> pids_;
};

/// Which processes the pids of one input are in a merge.
class InputProcesses {
 public:
  /// `merged`: the input is a merged file, whose pids are those of its sources. All must outlive
  /// this.
  InputProcesses(std::uint32_t input, std::span<const MergedSource> sources, bool merged,
                 const SourceSet& set, PidNumbers& numbers);

  struct Process {
    bool wanted = false;       ///< false: its source is read from another input
    std::uint32_t number = 0;  ///< of PidNumbers
    std::uint32_t rank = 0;    ///< of the source
  };
  /// Errors: kCorrupt: a pid of a merged file that none of its sources has.
  Result<Process> find(std::uint32_t pid);

 private:
  std::span<const MergedSource> sources_;
  bool merged_;
  PidNumbers& numbers_;
  std::vector<std::uint64_t> ends_;                  // of a merged file: first pid after a source
  std::vector<std::optional<std::uint32_t>> ranks_;  // by source
  std::unordered_map<std::uint32_t, Process> known_;
  const Process* latest_ = nullptr;  // of latest_pid_, in known_: samples of a process come in runs
  std::uint32_t latest_pid_ = 0;
};

}  // namespace stackpack::app
