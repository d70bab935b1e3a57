#include "symbols/interrupt_entries.h"

#include <algorithm>
#include <array>
#include <vector>

namespace stackpack::symbols {

namespace {

using std::string_view_literals::operator""sv;

// Linux on x86-64, since 5.8.
constexpr std::array kKernelPrefixes{"asm_sysvec_"sv, "asm_exc_"sv};

constexpr std::array kKernelEntries{
    // Linux on x86-64; then as before 5.8.
    "asm_common_interrupt"sv, "asm_spurious_interrupt"sv, "asm_fred_entrypoint_kernel"sv,
    "end_repeat_nmi"sv, "nmi"sv, "page_fault"sv, "async_page_fault"sv, "general_protection"sv,
    "divide_error"sv, "invalid_op"sv, "int3"sv, "alignment_check"sv, "ret_from_intr"sv,
    "apic_timer_interrupt"sv, "reschedule_interrupt"sv, "call_function_interrupt"sv,
    "call_function_single_interrupt"sv, "irq_work_interrupt"sv, "error_interrupt"sv,
    "spurious_interrupt"sv, "thermal_interrupt"sv, "threshold_interrupt"sv, "x86_platform_ipi"sv,
    "xen_hvm_callback_vector"sv, "hyperv_callback_vector"sv, "hyperv_stimer0_callback_vector"sv,
    // Linux on AArch64; then as before 5.14.
    "el1h_64_sync"sv, "el1h_64_irq"sv, "el1h_64_fiq"sv, "el1h_64_error"sv, "el1t_64_sync"sv,
    "el1t_64_irq"sv, "el1t_64_fiq"sv, "el1t_64_error"sv, "el1_sync"sv, "el1_irq"sv, "el1_fiq"sv,
    "el1_error"sv,
    // Windows.
    "KiPageFault"sv, "KiGeneralProtectionFault"sv, "KiDivideErrorFault"sv, "KiInvalidOpcodeFault"sv,
    "KiNpxNotAvailableFault"sv, "KiDoubleFaultAbort"sv, "KiSegmentNotPresentFault"sv,
    "KiStackFault"sv, "KiInvalidTssFault"sv, "KiAlignmentFault"sv, "KiFloatingErrorFault"sv,
    "KiXmmException"sv, "KiBoundFault"sv, "KiBreakpointTrap"sv, "KiOverflowTrap"sv,
    "KiDebugTrapOrFault"sv, "KiVirtualizationException"sv, "KiRaiseAssertion"sv,
    "KiDebugServiceTrap"sv, "KiRaiseSecurityCheckFailure"sv, "KiNmiInterrupt"sv, "KxNmiInterrupt"sv,
    "KiMcheckAbort"sv, "KxMcheckAbort"sv, "KiInterruptDispatch"sv, "KiInterruptDispatchNoLock"sv,
    "KiInterruptDispatchNoLockNoEtw"sv, "KiInterruptDispatchNoEOI"sv, "KiChainedDispatch"sv,
    "KiApcInterrupt"sv, "KiDpcInterrupt"sv, "KiIpiInterrupt"sv, "KiSwInterrupt"sv,
    "KiHvInterrupt"sv, "KiVmbusInterrupt0"sv, "KiVmbusInterrupt1"sv, "KiVmbusInterrupt2"sv,
    "KiVmbusInterrupt3"sv, "KiSystemServiceCopyEnd"sv, "KiSystemServiceUser"sv};

constexpr std::array kUserEntries{"KiUserExceptionDispatcher"sv,
                                  "KiUserExceptionDispatch"sv,
                                  "KiUserApcDispatcher"sv,
                                  "KiUserApcDispatch"sv,
                                  "KiUserCallbackDispatcher"sv,
                                  "KiUserCallbackDispatch"sv,
                                  "KiUserCallbackDispatcherContinue"sv,
                                  "runtime.asyncPreempt"sv,
                                  "runtime.asyncPreempt.abi0"sv,
                                  "runtime.sigpanic"sv};

constexpr std::array kSignalReturns{"__restore_rt"sv,
                                    "__restore"sv,
                                    "__default_rt_sa_restorer"sv,
                                    "__default_sa_restorer"sv,
                                    "__kernel_rt_sigreturn"sv,
                                    "__kernel_sigreturn"sv,
                                    "runtime.sigreturn"sv,
                                    "runtime.sigreturn.abi0"sv,
                                    "runtime.sigreturn__sigaction"sv,
                                    "runtime.sigreturn__sigaction.abi0"sv};

constexpr std::array kThunkPrefixes{"__x86_indirect_thunk_"sv, "__llvm_retpoline_"sv};

template <std::size_t kCount>
bool begins_with_one_of(const std::array<std::string_view, kCount>& prefixes,
                        std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Spares most names of a large table the lists.
bool may_be_entry(std::string_view name) {
  constexpr std::size_t kLongest = 48;
  return !name.empty() && name.size() <= kLongest &&
         "acdeghiKnprstx_"sv.find(name.front()) != std::string_view::npos;
}

}  // namespace

EntryKind entry_kind(std::string_view linkage, bool kernel) {
  if (!may_be_entry(linkage)) {
    return EntryKind::kNone;
  }
  if (begins_with_one_of(kThunkPrefixes, linkage)) {
    return EntryKind::kThunk;
  }
  if (kernel) {
    return begins_with_one_of(kKernelPrefixes, linkage) || is_one_of(kKernelEntries, linkage)
               ? EntryKind::kInterrupt
               : EntryKind::kNone;
  }
  return is_one_of(kSignalReturns, linkage) ? EntryKind::kSignalReturn
         : is_one_of(kUserEntries, linkage) ? EntryKind::kInterrupt
                                            : EntryKind::kNone;
}

InterruptEntries::InterruptEntries(const Names& names, std::span<const Module> modules,
                                   std::span<const std::uint32_t> first_rows) {
  std::vector<std::vector<std::uint64_t>> bases;  // by first row: what to add to offsets
  for (const Function& function : names.functions) {
    if (left_ == 0) {
      return;
    }
    const std::string_view linkage =
        names.texts[function.linkage == kNoText ? function.name : function.linkage];
    if (entry_kind(linkage, true) == EntryKind::kNone &&
        entry_kind(linkage, false) == EntryKind::kNone) {
      continue;
    }
    any_ = true;
    if (function.owner != FunctionOwner::kImage) {
      add(function.start, function.size);
      continue;
    }
    if (bases.empty()) {
      bases.resize(modules.size());
      for (std::size_t row = 0; row < modules.size(); ++row) {
        bases[first_rows[row]].push_back(modules[row].base - modules[row].file_offset);
      }
    }
    if (function.module < modules.size()) {
      for (const std::uint64_t base : bases[first_rows[function.module]]) {
        if (left_ == 0) {
          return;
        }
        add(base + function.start, function.size);
      }
    }
  }
}

void InterruptEntries::add(std::uint64_t start, std::uint64_t size) {
  const auto bits = static_cast<std::size_t>(std::clamp<std::uint64_t>(size, 1, kLowBits));
  if (left_ < bits) {
    left_ = 0;
    low_bits_.set();
    return;
  }
  left_ -= bits;
  for (std::size_t i = 0; i < bits; ++i) {
    low_bits_.set(low(start + i));
  }
}

}  // namespace stackpack::symbols
