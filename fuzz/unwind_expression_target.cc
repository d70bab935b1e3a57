// Expressions of unwind tables: whatever the bytes, evaluating ends, and reads the stack's memory
// alone. First byte: how many bytes of the rest are the stack.
#include <cstdint>
#include <span>

#include "bytes/byte_cursor.h"
#include "fuzz/require.h"
#include "unwind/stack_expression.h"

namespace stackpack::fuzz {

void unwind_expression(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  const auto size = in.read<std::uint8_t>();
  const std::span<const std::byte> stack = in.read_bytes(size < in.remaining() ? size : 0);
  unwind::Registers registers;
  registers.set(6, 0x1010);
  registers.set(7, 0x1000);
  registers.set(16, 0x5B);
  const unwind::StackMemory memory(0x1000, stack);
  std::optional<std::uint64_t> missing;
  const auto first =
      unwind::evaluate(bytes::ByteCursor(in.rest(), 0), {registers, memory, &missing}, 0x1020);
  require(!first || !missing);
  const std::uint64_t at = missing.value_or(0) - 0x1000;
  require(!missing || at >= stack.size() || stack.size() - at < 8);
  const auto again = unwind::evaluate(bytes::ByteCursor(in.rest(), 0), {registers, memory}, 0x1020);
  require(first == again);
}

}  // namespace stackpack::fuzz
