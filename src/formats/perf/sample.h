// PERF_RECORD_SAMPLE: its attribute alone decides which fields it has.
//
// Order of the fields, each only if its bit is set in sample_type: IDENTIFIER, IP, TID, TIME, ADDR,
// ID, STREAM_ID, CPU, PERIOD, READ, CALLCHAIN, RAW, BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT,
// DATA_SRC, TRANSACTION, REGS_INTR, PHYS_ADDR, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, AUX.
// READ lies before CALLCHAIN: a wrong length there would break every stack. Nothing is looked for
// by its content; the fields must fill the record exactly, which shows damage.
// Source: perf_event_open(2), "PERF_RECORD_SAMPLE"; kernel/events/core.c, perf_output_sample().
#pragma once

#include <cstdint>
#include <span>

#include "bytes/byte_cursor.h"
#include "formats/perf/attr.h"
#include "stackpack/model.h"

namespace stackpack::perf {

// The user stack as `perf record --call-graph dwarf` records it.
//
// Such a sample has no user frames. It has the registers and the top of the user stack (REGS_USER,
// STACK_USER), to be unwound later with the unwind tables of the binaries. SampleConverter hands
// them to a capture::DumpUnwinder where there is one, and counts them where there is none.
//
// The dump is raw memory of the recorded process and can hold passwords or keys. It must never
// reach an output, a message or a log.

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

/// What of an attribute decides how its samples are read, worked out once.
struct SampleLayout {
  std::uint64_t sample_type = 0;
  bool read_group = false;
  std::uint32_t read_fixed_words = 0;  ///< READ: words besides the values (or the whole of it)
  std::uint32_t read_value_words = 0;  ///< READ of a group: words of each value
  std::uint32_t read_time_words = 0;   ///< READ: words of times
  bool reads_counters = false;         ///< READ: the values have ids
  bool read_lost = false;              ///< READ: ids are followed by a count of lost samples
  bool counts_by_thread = false;       ///< READ: the values are those of the sample's thread
  std::uint64_t branch_sample_type = 0;
  std::uint64_t user_register_mask = 0;
  std::uint32_t user_registers = 0;
  std::uint32_t interrupt_registers = 0;
  bool excludes_user_chain = false;  ///< the user part of the stack is dumped, not walked
  bool is_precise = false;           ///< asked to be: the interrupt comes after the instruction
  bool ip_may_be_apart = false;      ///< a chain need not begin at the instruction pointer

  [[nodiscard]] bool has(std::uint64_t bit) const { return (sample_type & bit) != 0; }
  friend bool operator==(const SampleLayout&, const SampleLayout&) = default;
};

SampleLayout layout_of(const Attr& attr);

inline bool uses_branch_stack(const SampleLayout& layout) {
  return uses_branch_stack(layout.branch_sample_type, layout.sample_type);
}

/// The fields of a SAMPLE that we use. Cursors and spans point into the record.
struct SampleFields {
  std::uint64_t ip = 0;
  std::uint64_t time = 0;
  std::uint64_t period = 1;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t cpu = kUnknownId;
  std::uint64_t counter_count = 0;
  bytes::ByteCursor counters{{}, 0};  ///< counter_count of them, for next_counter
  std::uint64_t chain_entries = 0;
  bytes::ByteCursor chain{{}, 0};  ///< chain_entries u64, leaf first, with context markers
  std::uint64_t branch_count = 0;
  bytes::ByteCursor branches{{}, 0};  ///< branch_count times {u64 from, to, flags}, newest first
  UserStackDump dump;
  std::uint64_t dump_bytes = 0;          ///< of the fields that hold it
  std::uint32_t weight_begin = 0;        ///< where WEIGHT and what follows begin in the payload
  std::uint32_t physical_begin = 0;      ///< where PHYS_ADDR and what follows begin
  bytes::ByteCursor raw{{}, 0};          ///< RAW, without its size
  std::uint64_t read_bytes = 0;          ///< of READ
  bytes::ByteCursor group_times{{}, 0};  ///< READ of a group: read_fixed_words of them
  std::size_t tail_begin = 0;            ///< where the fields after CALLCHAIN begin in the payload
};

/// The value of a counter as a sample carries it, counted since its event began.
struct CounterValue {
  std::uint64_t value = 0;
  std::uint64_t id = 0;
};

/// The next of `fields.counters`, of samples with this layout.
inline CounterValue next_counter(bytes::ByteCursor& counters, const SampleLayout& layout) {
  CounterValue counter;
  counter.value = counters.read<std::uint64_t>();
  if (!layout.read_group) {
    counters.skip(std::uint64_t{8} * layout.read_time_words);
  }
  counter.id = counters.read<std::uint64_t>();
  if (layout.read_lost) {
    counters.skip(8);
  }
  return counter;
}

/// How the fields lie in the record.
enum class SampleFit : std::uint8_t {
  kExact,    ///< they fill it
  kSlack,    ///< bytes are left: fields of a newer kernel, or damage
  kOverrun,  ///< they need more bytes than there are; `fields` is of no use
};

/// Reads a sample. `payload` is what follows the record header.
SampleFit read_sample(const bytes::ByteCursor& payload, const SampleLayout& layout,
                      SampleFields& fields);

}  // namespace stackpack::perf
