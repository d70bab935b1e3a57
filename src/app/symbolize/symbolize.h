#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/symbolize/debuginfod.h"
#include "stackpack/convert.h"
#include "stackpack/filter.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// What `stackpack symbolize` may use and does.
struct SymbolizeOptions {
  symbolize::SymbolPlaces places;
  std::string kallsyms;    ///< names of the kernel, as /proc/kallsyms lists them; empty: none
  std::string map_folder;  ///< has perf-PID.map and jit-PID.dump; empty: none
  /// Also use what this machine has unasked: see machine_sources.h. Nothing of it is used with
  /// places.has_root, which says that the capture is of another machine.
  bool this_machine = true;
  /// The capture that the file was made of just now; empty: the file says itself how old it is.
  std::string capture{};
  /// Fetch debug files that are not here from the servers that the user has configured
  /// (debuginfod.h).
  bool debuginfod = false;
  bool inlines = true;
  bool lines = true;   ///< false: where nobody sees lines, those of ELF files are not read
  bool images = true;  ///< false: only what was made at run time is named
  /// Names are wanted of the callstacks of these samples alone. A filter that the capture refuses
  /// is the error of whoever shows it.
  SampleFilter shown{};
  bool unconfined = false;  ///< read symbols also where the kernel does not confine their reader
  /// Files that the output must not be, besides the input.
  std::vector<std::string> other_inputs{};
  unsigned jobs = 0;   ///< images at a time; 0: one per processor
  bool force = false;  ///< replace an existing file that is neither a .spk file nor empty
};

/// Part of an Error that happened to SymbolizeOptions::kallsyms.
inline constexpr std::uint32_t kKallsymsPart = kOutputPart - 1;

/// What became of one image.
struct ImageReport {
  std::string path;
  std::string build_id;             ///< hex; empty: not recorded
  std::string found;                ///< the file that was read; empty: none
  std::string debug_file;           ///< the one with what was stripped from it
  std::uint64_t asked = 0;          ///< distinct addresses in callstacks
  std::uint64_t named = 0;          ///< of them with a function, those of the capture included
  std::uint64_t lines = 0;          ///< of them with a line
  std::uint64_t damaged_parts = 0;  ///< of its symbols, which could not be read
  std::uint64_t missing_files = 0;  ///< that its debug information names
  std::uint64_t unread_names = 0;   ///< that stay as linked: nothing here can read them
  bool replaced = false;            ///< there is a file at its path, which is not the recorded one
  std::string reason;               ///< why there are no more; empty: all that there is
};

struct SymbolizeReport {
  std::vector<ImageReport> images;  ///< most addresses first
  std::uint64_t asked = 0;
  std::uint64_t named = 0;
  std::uint64_t lines = 0;
  std::uint64_t failed_images = 0;  ///< whose reader crashed or passed a limit
  /// Of bundles: entries that are damaged, or of another build than they say.
  std::uint64_t refused_kit_entries = 0;
  /// With SymbolizeOptions::debuginfod.
  FetchReport fetch{};
  std::uint64_t output_bytes = 0;
};

/// Whether `output` may be written: it is none of options.other_inputs, and replaces nothing that
/// it must not. Errors: those of an output.
Status check_named_output(const std::string& output, const SymbolizeOptions& options);

/// Names the addresses of the .spk file `input` from files outside, and writes `output` ("-":
/// standard output), which appears whole or not at all.
///
/// Everything else of the file stays byte by byte. The same files give the same bytes, whatever the
/// number of jobs; naming the output again with the same files changes nothing, with more files it
/// adds. Nothing is fetched from a network but with options.debuginfod. `progress`: bytes are
/// images; may be null. Errors: those of Reader::open, of an output and of kallsyms; kCancelled.
Result<SymbolizeReport> symbolize_file(const std::string& input, const std::string& output,
                                       const SymbolizeOptions& options, ConvertProgress* progress);

}  // namespace stackpack::app
