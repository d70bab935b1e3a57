// The kinds of text with callstacks that are read.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "capture/format_probe.h"
#include "formats/stacks/stack_line.h"

namespace stackpack::stacks {

enum class TreeOrder : std::uint8_t {
  kNone,          ///< callstacks, no tree
  kSelf,          ///< weights are those of a node alone
  kTotal,         ///< and what is below it
  kTotalInverted  ///< likewise, with leaves at the top
};

struct StackDialect {
  std::string_view writer;  ///< for messages
  ReadLine read = nullptr;
  TreeOrder tree = TreeOrder::kNone;
  bool counts_itself = false;  ///< a callstack is one sample: it has no count
  bool is_json = false;        ///< each line is a message that stands for several: print_message()
};

struct DialectAnswer {
  const StackDialect* dialect = nullptr;  ///< null: it is none of them
  std::uint8_t share = 0;                 ///< percent of the lines
};

/// The dialect that most lines of a text are of.
DialectAnswer dialect_of(const capture::CaptureHead& head);

/// Of callstacks with a count in a line of its own: DTrace, SystemTap, BCC.
StackLine read_counted_line(std::string_view line, LineState& state);
/// Of bpftrace's maps.
StackLine read_map_line(std::string_view line, LineState& state);
/// Of backtraces: gdb, eu-stack, jstack, Python's faulthandler.
StackLine read_backtrace_line(std::string_view line, LineState& state);
/// Of call trees: macOS' sample, pmcstat -G, tables of VTune and Instruments.
StackLine read_sample_line(std::string_view line, LineState& state);
StackLine read_pmc_line(std::string_view line, LineState& state);
StackLine read_table_line(std::string_view line, LineState& state);

}  // namespace stackpack::stacks
