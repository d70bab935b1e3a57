#pragma once

#include <cstdint>
#include <optional>

#include "bytes/byte_cursor.h"
#include "unwind/machine.h"
#include "unwind/stack_memory.h"

namespace stackpack::unwind {

/// What an expression of a table may look at.
struct ExpressionInput {
  const Registers& registers;
  const StackMemory& memory;
  /// Where not null: set to the address that was read when the memory there was not copied.
  std::optional<std::uint64_t>* missing = nullptr;
};

/// Evaluates a DWARF expression as call frame information has them: registers, constants,
/// arithmetic, comparisons, branches and words of the stack. `first` is on the stack at the start.
///
/// Bounds: 64 values, 1,024 steps. Result: the value on top; nothing for an unknown operation, a
///         register that is not known, or memory that was not copied.
std::optional<std::uint64_t> evaluate(bytes::ByteCursor expression, const ExpressionInput& input,
                                      std::optional<std::uint64_t> first);

/// Next signed LEB128 number; the cursor fails when it does not fit 64 bits.
std::int64_t read_signed_varint(bytes::ByteCursor& in);

}  // namespace stackpack::unwind
