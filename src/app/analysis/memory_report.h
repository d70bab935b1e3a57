// What samples of accesses to memory say: where data came from, how long that took and for whom,
// and which cache lines are shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// Accesses, added up.
struct MemorySum {
  std::uint64_t samples = 0;
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t latency = 0;        ///< cycles, of all samples
  std::uint64_t most_latency = 0;   ///< of one
  std::uint64_t local_shared = 0;   ///< loads whose line another core of the node had modified
  std::uint64_t remote_shared = 0;  ///< the same, of another node

  [[nodiscard]] std::uint64_t shared() const { return local_shared + remote_shared; }
};

/// Where data came from: operation and level as perf names them, `LOAD`, `L1 hit`.
struct MemorySource {
  std::string operation;
  std::string level;
  MemorySum sum;
};

/// Accesses of one function, or one callstack.
struct MemoryUser {
  std::string function;      ///< at the leaf; `[module]` without a name, `[unknown]` without either
  StackId stack = kNoStack;  ///< of a callstack
  MemorySum sum;
};

/// Accesses of one function to one place of a cache line.
struct LineUse {
  std::uint32_t offset = 0;  ///< in the line
  std::string function;
  std::uint64_t threads = 0;
  std::uint64_t cpus = 0;
  MemorySum sum;
};

/// A cache line of 64 bytes.
struct CacheLine {
  std::uint64_t address = 0;  ///< of its first byte
  bool physical = false;      ///< the address is one of the machine's memory
  std::string process;        ///< whose address it is; empty: of all
  std::uint64_t threads = 0;
  std::uint64_t cpus = 0;
  MemorySum sum;
  std::vector<LineUse> uses;  ///< most samples first
};

/// Accesses to one variable.
struct MemoryVariable {
  std::string name;   ///< as linked; `[unknown]`: in no variable of an image
  std::string image;  ///< path; empty: of none
  MemorySum sum;
};

struct MemoryReport {
  MemorySum all;
  std::vector<MemorySource> sources;  ///< most latency first, then samples
  // In the order asked for.
  std::vector<MemoryUser> functions;
  std::vector<MemoryUser> stacks;
  std::vector<CacheLine> lines;
  std::vector<MemoryVariable> variables;  ///< where places of files were given
  std::size_t all_variables = 0;
  std::size_t all_functions = 0;
  std::size_t all_stacks = 0;
  std::size_t all_lines = 0;
  std::uint64_t untracked = 0;  ///< samples whose line was one too many to follow
};

/// Whether the fields of a sample are of an access to memory: a data source, a latency or a data
/// address.
bool is_access(const FieldRow& row);

/// What a data source says, as `perf script -F data_src` writes it after the number.
std::string access_text(std::uint64_t data_source);

enum class MemoryOrder : std::uint8_t { kLatency, kSamples, kShared };

/// The report of the samples of a file that the filter lets through and that are accesses. `limit`:
/// most rows of functions, callstacks and lines; 0: all. Lines are told apart by physical address
/// where there is one, else by address and, in user memory, process. Memory: distinct functions and
/// callstacks, and some 100 bytes for each of two million places in lines, their threads and
/// processors. `places`: where files of images are looked for, whose variables are shown then;
/// null: nowhere. Errors: those of the reader; kUsage: as SampleSelection.
Result<MemoryReport> memory_report(const Reader& reader, const SampleFilter& filter,
                                   MemoryOrder order, std::size_t limit,
                                   const symbolize::SymbolPlaces* places = nullptr);

}  // namespace stackpack::app
