#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::exporting {

/// Divides the time of each process into epochs in which its mappings do not change.
///
/// Which image an address belongs to depends on (process, time). Asking for each of millions of
/// samples is slow, and asking once per callstack is wrong: a callstack has no process, and a
/// process maps and unmaps. Within one epoch the answer is the same for every time, so that
/// (callstack, process, epoch) is asked once. An epoch begins where a process starts (a pid is used
/// again, or exec) and where an image is mapped or unmapped; what a forked process has from its
/// parent is fixed at the fork. Mappings of the kernel are shared, and have epochs of their own.
class MappingEpochs {
 public:
  MappingEpochs(std::span<const Process> processes, std::span<const Module> modules);

  struct Epoch {
    std::uint64_t number = 0;                       ///< unique within a pid
    std::uint64_t valid_until = ~std::uint64_t{0};  ///< first time of the next one
  };
  [[nodiscard]] Epoch find(std::uint32_t pid, std::uint64_t time_ns) const;

 private:
  std::vector<std::pair<std::uint32_t, std::uint64_t>> boundaries_;  // (pid, first time of epoch)
};

}  // namespace stackpack::exporting
