#include "formats/perf/dump_registers.h"

#include <array>
#include <bit>

namespace stackpack::perf {

namespace {

constexpr std::uint8_t kNotFollowed = 0xFF;

// DWARF's number of each of perf's registers of x86: AX BX CX DX SI DI BP SP IP, flags and
// segments, R8 to R15. Source: asm/perf_regs.h of the kernel, for x86.
constexpr std::array<std::uint8_t, 24> kX86Numbers = {0,
                                                      3,
                                                      2,
                                                      1,
                                                      4,
                                                      5,
                                                      6,
                                                      7,
                                                      16,
                                                      kNotFollowed,
                                                      kNotFollowed,
                                                      kNotFollowed,
                                                      kNotFollowed,
                                                      kNotFollowed,
                                                      kNotFollowed,
                                                      kNotFollowed,
                                                      8,
                                                      9,
                                                      10,
                                                      11,
                                                      12,
                                                      13,
                                                      14,
                                                      15};

constexpr std::uint64_t bit(unsigned number) {
  return std::uint64_t{1} << number;
}

constexpr std::uint64_t kX86Needed = bit(7) | bit(8);    // SP, IP
constexpr std::uint64_t kArmNeeded = bit(31) | bit(32);  // sp, pc

}  // namespace

std::optional<capture::DumpMachine> machine_of(std::uint64_t register_mask) {
  // x86 has vector registers from number 32 on, two numbers each, so that one alone is AArch64's.
  if ((register_mask & kArmNeeded) == kArmNeeded && (register_mask >> 33) == 0) {
    return capture::DumpMachine::kAarch64;
  }
  if ((register_mask & kX86Needed) == kX86Needed && (register_mask & bit(31)) == 0) {
    return capture::DumpMachine::kX64;
  }
  return std::nullopt;
}

bool read_dump_registers(const UserStackDump& dump, capture::ThreadDump& thread) {
  const std::optional<capture::DumpMachine> machine = machine_of(dump.register_mask);
  if (!machine) {
    return false;
  }
  thread.machine = *machine;
  thread.stack = dump.stack;
  thread.filled = dump.filled;
  thread.known_registers = 0;
  bytes::ByteCursor values = dump.registers;
  for (std::uint64_t left = dump.register_mask; left != 0; left &= left - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(left));
    const auto value = values.read<std::uint64_t>();
    const bool is_x86 = *machine == capture::DumpMachine::kX64;
    const unsigned dwarf = !is_x86                       ? number
                           : number < kX86Numbers.size() ? kX86Numbers[number]
                                                         : kNotFollowed;
    if (dwarf < capture::ThreadDump::kRegisters) {
      thread.registers[dwarf] = value;
      thread.known_registers |= bit(dwarf);
    }
  }
  return values.ok();
}

}  // namespace stackpack::perf
