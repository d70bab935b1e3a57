#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "capture/callstack_sink.h"
#include "capture/system_tables.h"
#include "capture/unwind_losses.h"

namespace stackpack::capture {

/// Machines whose dumps can be unwound.
enum class DumpMachine : std::uint8_t { kX64, kAarch64 };

/// Registers and stack memory of one thread at the moment of a sample. `stack` is valid during the
/// call only. It is raw memory of the recorded process: it must never reach an output or a message.
struct ThreadDump {
  /// By DWARF's numbers; the program counter is 16 (x86-64) or 32 (AArch64).
  static constexpr std::size_t kRegisters = 33;
  DumpMachine machine = DumpMachine::kX64;
  std::uint32_t pid = kUnknownId;
  std::uint64_t time_ns = 0;
  std::uint64_t offset = 0;  ///< of the sample in the capture, for counters
  std::array<std::uint64_t, kRegisters> registers{};
  std::uint64_t known_registers = 0;  ///< a bit each
  std::span<const std::byte> stack;   ///< from the stack pointer upwards
  std::size_t loaded = 0;             ///< of `stack`: the others are not its bytes before load()
  /// Where fewer are loaded than there are: reads on, to so many bytes of `stack` or more, and says
  /// how many are there then. Fewer: they cannot be read.
  std::function<std::size_t(std::size_t)> load;
  bool filled = true;      ///< as many bytes were copied as were asked for
  bool in_kernel = false;  ///< the sample was taken in the kernel
};

/// What a dump says of a sample's callstack.
struct UnwoundStack {
  std::span<const std::uint64_t> frames;  ///< leaf first; valid until the next call
  bool complete = false;                  ///< they reach the root of the stack
};

/// Makes callstacks of dumps. One of the three virtual interfaces: a format of captures has the
/// dumps, the program knows which files may be looked at.
///
/// Threads: one at a time.
class DumpUnwinder {
 public:
  DumpUnwinder() = default;
  DumpUnwinder(const DumpUnwinder&) = delete;
  DumpUnwinder& operator=(const DumpUnwinder&) = delete;
  virtual ~DumpUnwinder() = default;

  /// Processes and mappings of the whole capture. Once, before the first dump.
  virtual void begin(SystemTables tables) = 0;

  /// No frame: the dump cannot be unwound.
  virtual UnwoundStack unwind(const ThreadDump& dump) = 0;

  /// Counts a dump of a process of 32 bits, or of another machine.
  virtual void pass_over(std::string_view loss, std::uint64_t offset) = 0;

  /// Adds counters and facts to the sink. Once, after the last dump.
  virtual void finish(CallstackSink& sink) = 0;
};

}  // namespace stackpack::capture
