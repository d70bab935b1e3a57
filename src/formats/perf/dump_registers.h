#pragma once

#include <optional>

#include "capture/dump_unwinder.h"
#include "formats/perf/sample.h"

namespace stackpack::perf {

/// The machine whose registers a mask of perf's numbers can be: nothing when it has neither a
/// stack pointer nor a program counter of one that is known.
std::optional<capture::DumpMachine> machine_of(std::uint64_t register_mask);

/// Fills in machine, registers and memory of `thread`. `dump` is usable().
/// Result: false when the stack pointer or the program counter is not among the registers.
bool read_dump_registers(const UserStackDump& dump, capture::ThreadDump& thread);

}  // namespace stackpack::perf
