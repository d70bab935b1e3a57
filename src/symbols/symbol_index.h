#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capture/life_index.h"
#include "capture/module_map.h"
#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/symbols.h"
#include "symbols/interrupt_entries.h"
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

/// For each module the first row of the same image: with its path and build id.
std::vector<std::uint32_t> first_rows_of(std::span<const Module> modules);

/// Whether code is the kernel's, whoever has it.
bool is_of_kernel(const Function& function);

/// Whether processes have names for addresses of the kernel: some recorders write down, for each
/// process, the symbols that it hit.
bool has_kernel_in_processes(const Names& names);

/// Locates addresses by tables which it does not own and which must outlive it.
/// Const methods may be called from any thread.
class SymbolIndex {
 public:
  /// What metadata say of the addresses of a capture.
  struct Facts {
    /// Addresses of unknown mode in a range that no processor has stand for names (imported
    /// profiles); in files of version 1.0, modules of one byte without a build id do.
    bool synthetic_frames = false;
    /// Callers are recorded as return addresses, as sampling kernels do. What other profilers
    /// exported has addresses within the calling instruction already.
    bool return_addresses = true;
    /// User frames were found by unwind tables, which lead from a signal handler to the
    /// interrupted address; chains of frame pointers do not.
    bool unwound = false;
    /// A user frame right after those of the kernel is the address that was interrupted, and one at
    /// the first byte of a function is in it. False for .nettrace, whose frames are all return
    /// addresses but for the leaf.
    bool may_be_interrupted = true;
  };
  SymbolIndex(std::span<const Process> processes, std::span<const Module> modules,
              const Names& names, const Facts& facts);
  SymbolIndex(const SymbolIndex&) = delete;
  SymbolIndex& operator=(const SymbolIndex&) = delete;

  [[nodiscard]] CodeLocation locate(const Frame& frame, std::uint32_t pid, std::uint64_t time_ns,
                                    AddressUse use) const;
  /// As Symbols::use_of.
  [[nodiscard]] AddressUse use_of(std::span<const Frame> leaf_first, std::size_t index,
                                  std::uint32_t pid, std::uint64_t time_ns) const {
    const Frame& frame = leaf_first[index];
    if (index == 0) {
      return AddressUse::kExact;
    }
    if (frame.mode != leaf_first[index - 1].mode) {
      return facts_.may_be_interrupted ? AddressUse::kExact : AddressUse::kReturn;
    }
    const Frame& callee = leaf_first[index - 1];
    const bool may_be_exact = entries_.may_have(callee.address) || entries_.may_have(frame.address);
    return may_be_exact && was_not_called(frame, callee, pid, time_ns) ? AddressUse::kExact
                                                                       : AddressUse::kReturn;
  }

  /// As Symbols::expand.
  void expand(const CodeLocation& location, std::vector<InlineFrame>& frames) const;
  [[nodiscard]] const NamingEpochs& epochs() const { return epochs_; }

  /// The first row of the modules with the same path and build id.
  [[nodiscard]] std::uint32_t image_of(std::uint32_t module) const { return first_rows_[module]; }

 private:
  /// What has an address: the ranges of an owner, and the address as they count it.
  struct Place {
    RangeOwner owner;
    std::uint64_t address = 0;
  };

  [[nodiscard]] bool was_not_called(const Frame& frame, const Frame& callee, std::uint32_t pid,
                                    std::uint64_t time_ns) const;
  [[nodiscard]] bool stands_for_name(const Frame& frame) const;
  [[nodiscard]] bool is_name(const Module& module) const;
  [[nodiscard]] const Function* function_at(const Place& place, std::uint64_t time_ns) const;
  [[nodiscard]] CodeLocation locate_before(const Frame& frame, std::uint32_t pid,
                                           std::uint64_t time_ns, std::uint64_t back) const;
  bool name_at(const Place& place, std::uint64_t time_ns, CodeLocation& location) const;
  bool name_in_process(std::uint64_t address, std::uint32_t pid, std::uint64_t time_ns,
                       CodeLocation& location) const;
  void name_in_image(std::uint64_t offset, CodeLocation& location) const;

  std::span<const Process> processes_;
  std::span<const Module> modules_;
  const Names& names_;
  Facts facts_;
  std::vector<std::uint32_t> first_rows_;
  capture::ProcessLives lives_;
  capture::ModuleMap map_;
  RangeIndex<Function> functions_;
  RangeIndex<CodeLine> lines_;
  NamingEpochs epochs_;
  InterruptEntries entries_;
  bool any_functions_;
  bool kernel_in_processes_;
};

/// A process in one epoch of its names and mappings: all that the meaning of an address depends on.
struct MappingContext {
  std::uint32_t pid = kUnknownId;  ///< unknown: any process of which nothing is known
  std::uint64_t time_ns = 0;       ///< any time in the epoch
};

}  // namespace stackpack::symbols
