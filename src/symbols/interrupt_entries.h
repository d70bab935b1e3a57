// Which functions are entered or left in other ways than by a call and a return, so that the frame
// after them is not a return address: above all the instruction that an interrupt interrupted.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stackpack/names.h"

namespace stackpack::symbols {

/// What the frame after a function is, in the order from leaf to root.
enum class EntryKind : std::uint8_t {
  kNone,       ///< called: a return address
  kInterrupt,  ///< entered by an interrupt, an exception or a dispatcher: the interrupted address
  /// Where a signal handler returns to. Tables lead from there to the interrupted address; chains
  /// of frame pointers, as kernels record them, to where the interrupted function returns to.
  kSignalReturn,
  /// What indirect calls go through where processors are kept from guessing their targets: it jumps
  /// by a return, so that the frame after it may be a function that is about to begin.
  kThunk,
};

/// The kind of a function by its linkage name. `kernel`: of code in kernel mode.
/// Source: arch/x86/entry and arch/arm64/kernel/entry.S of Linux, past and present; the public
/// symbols of ntoskrnl.exe and ntdll.dll; the C libraries' signal returns; Go's runtime; the names
/// of thunks that GCC and clang agree on with the kernel.
[[nodiscard]] EntryKind entry_kind(std::string_view linkage, bool kernel);

/// A filter of addresses before their functions are looked up, which takes long: whether an address
/// may be one of a function that is entered so. Answers are by the low bits of the address.
class InterruptEntries {
 public:
  /// `first_rows`: for each module the first row of the same image.
  /// Time: linear in functions and modules.
  InterruptEntries(const Names& names, std::span<const Module> modules,
                   std::span<const std::uint32_t> first_rows);

  [[nodiscard]] bool may_have(std::uint64_t address) const { return low_bits_[low(address)]; }
  [[nodiscard]] bool any() const { return any_; }

 private:
  static constexpr std::size_t kLowBits = std::size_t{1} << 16;
  static std::size_t low(std::uint64_t address) {
    return static_cast<std::size_t>(address % kLowBits);
  }
  void add(std::uint64_t start, std::uint64_t size);

  std::bitset<kLowBits> low_bits_;
  std::size_t left_ = 64 * kLowBits;  // bits that may be set, until all are
  bool any_ = false;
};

}  // namespace stackpack::symbols
