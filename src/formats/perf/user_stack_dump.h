// The user stack as `perf record --call-graph dwarf` records it.
//
// Such a sample has no user frames. It has the registers and the top of the user stack (REGS_USER,
// STACK_USER), to be unwound later with the unwind tables of the binaries. SampleConverter hands
// them to a capture::DumpUnwinder where there is one, and counts them where there is none.
//
// The dump is raw memory of the recorded process and can hold passwords or keys. It must never
// reach an output, a message or a log.
#pragma once

#include <cstdint>
#include <span>

#include "bytes/byte_cursor.h"

namespace stackpack::perf {

/// Registers and stack memory of one thread at the moment of a sample. Points into the record.
struct UserStackDump {
  std::uint64_t abi = 0;               ///< 0: no registers; 1: a 32-bit, 2: a 64-bit process
  std::uint64_t register_mask = 0;     ///< which registers: perf's numbering for the architecture
  bytes::ByteCursor registers{{}, 0};  ///< one u64 for each bit of the mask, lowest bit first
  std::span<const std::byte> stack;    ///< memory from the stack pointer upwards
  bool filled = true;                  ///< as many bytes as were asked for could be copied
  std::size_t begin = 0;               ///< where in the payload there is room for it, used or not
  std::size_t end = 0;

  /// Whether there is something to unwind.
  [[nodiscard]] bool usable() const { return abi != 0 && !stack.empty(); }
};

}  // namespace stackpack::perf
