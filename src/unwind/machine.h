// What differs between the machines whose stacks are unwound: numbers of registers, no more.
//
// Registers have DWARF's numbers. x86-64: rbx 3, rbp 6, rsp 7, return address 16. AArch64: x0 to
// x30, stack pointer 31; 32 is the program counter, for which DWARF has no number in tables.
#pragma once

#include <array>
#include <cstdint>

namespace stackpack::unwind {

enum class Machine : std::uint8_t { kX64, kAarch64 };

inline constexpr unsigned kRegisters = 33;

struct MachineTraits {
  unsigned pc = 0;
  unsigned stack_pointer = 0;
  unsigned frame_pointer = 0;
  /// Registers that are followed from frame to frame. Of those a callee keeps for its caller, these
  /// are what tables need to find a frame: carrying the others gives the same callstacks, slower.
  std::uint64_t carried = 0;
  std::uint64_t code_bits = 0;        ///< of a return address; others authenticate pointers
  bool leaf_keeps_return = false;     ///< a leaf's return address may be in a register
  std::uint64_t frame_alignment = 0;  ///< of frames that a frame pointer refers to
};

constexpr MachineTraits traits_of(Machine machine) {
  constexpr std::uint64_t kOne = 1;
  if (machine == Machine::kX64) {
    return {.pc = 16,
            .stack_pointer = 7,
            .frame_pointer = 6,
            .carried = kOne << 3 | kOne << 6,
            .code_bits = ~std::uint64_t{0},
            .leaf_keeps_return = false,
            .frame_alignment = 8};
  }
  // x19 to x30. Pointer authentication uses the bits above those of a user address.
  return {.pc = 32,
          .stack_pointer = 31,
          .frame_pointer = 29,
          .carried = std::uint64_t{0xFFF} << 19,
          .code_bits = (kOne << 48) - 1,
          .leaf_keeps_return = true,
          .frame_alignment = 16};
}

/// The registers of a frame, as far as they are known.
struct Registers {
  std::array<std::uint64_t, kRegisters> values{};
  std::uint64_t known = 0;  ///< a bit each

  [[nodiscard]] bool has(std::uint64_t number) const {
    return number < kRegisters && ((known >> number) & 1) != 0;
  }
  void set(unsigned number, std::uint64_t value) {
    values[number] = value;
    known |= std::uint64_t{1} << number;
  }
  void forget(unsigned number) { known &= ~(std::uint64_t{1} << number); }
};

}  // namespace stackpack::unwind
