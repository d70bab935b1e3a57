#pragma once

#include <cstdint>
#include <vector>

#include "core/number_table.h"

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

}  // namespace stackpack::app
