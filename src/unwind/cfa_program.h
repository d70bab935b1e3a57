#pragma once

#include <cstdint>

#include "unwind/frame_section.h"
#include "unwind/rule_table.h"

namespace stackpack::unwind {

/// How a program ended.
enum class ProgramEnd : std::uint8_t {
  kRow,         ///< the row is that of the address
  kDamaged,     ///< an unknown instruction, or bytes are missing
  kOverBudget,  ///< of steps
};

/// Runs the programs of an FDE and its CIE up to `address`, which the FDE covers. Each instruction
/// takes one from `steps`.
ProgramEnd run_to(const Fde& fde, std::uint64_t address, std::uint64_t& steps, FrameRow& row);

}  // namespace stackpack::unwind
