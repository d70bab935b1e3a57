#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "app/merge/pid_numbers.h"
#include "app/merge/source_set.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"

namespace stackpack::app {

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
