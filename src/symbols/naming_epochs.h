#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stackpack/names.h"
#include "stackpack/symbols.h"
#include "symbols/range_index.h"

namespace stackpack::symbols {

/// Divides the time of each process into epochs in which its addresses mean the same.
///
/// What an address is called depends on (process, time). Asking for each of millions of samples is
/// slow, and asking once per callstack is wrong: a callstack has no process, and a process maps and
/// unmaps. Within one epoch the answer is the same for every time, so that (callstack, process,
/// epoch) is asked once. An epoch begins where a process starts (a pid is used again, or exec),
/// where an image is mapped or unmapped, and where a function was born on bytes that another one
/// has, too: thousands of functions that are compiled one after the other on fresh memory cut
/// nothing. What a forked process has from its parent is fixed at the fork. The kernel's epochs are
/// those of kKernelPid.
class NamingEpochs {
 public:
  NamingEpochs(std::span<const Process> processes, std::span<const Module> modules,
               const RangeIndex<Function>& functions);

  [[nodiscard]] Symbols::Epoch find(std::uint32_t pid, std::uint64_t time_ns) const;

 private:
  std::vector<std::pair<std::uint32_t, std::uint64_t>> boundaries_;  // (pid, first time of epoch)
};

}  // namespace stackpack::symbols
