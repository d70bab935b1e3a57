// Writes what a .spk file holds in formats which other tools open. See docs/exports.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack {

enum class ExportFormat : std::uint8_t {
  kFolded,      ///< one line per callstack: `root;...;leaf COUNT`
  kPprof,       ///< profile.proto, gzip
  kSpeedscope,  ///< speedscope's JSON file format
  kFirefox,     ///< the Firefox Profiler's processed profile format, gzip
  kOtlp,        ///< OpenTelemetry profiles, v1development ProfilesData
  kCsv,         ///< a directory of tables
  kHtml,        ///< one page that shows it: docs/page-format.md
  kPerfetto,    ///< Perfetto's trace: samples of threads, and what these did if the file has it
  kCpuprofile,  ///< V8's .cpuprofile, which Chrome's DevTools open
};

/// The names of the formats as the command line spells them, in the order of the enumeration.
std::span<const std::string_view> export_format_names();
std::optional<ExportFormat> export_format_of(std::string_view name);

/// How a frame is written where the format has text for it.
enum class FrameStyle : std::uint8_t {
  /// `module+0xoffset`, the offset being that in the file; `0xaddress` where no image is known. Of
  /// a
  /// caller it is the byte before the return address: it lies in the instruction that called.
  kModule,
  kAddress,   ///< `0xaddress`, as recorded
  kFunction,  ///< the name of the function; kModule where none is known
};

/// What folded puts above the first frame.
enum class FoldedRoot : std::uint8_t {
  kNone,
  kProcess,  ///< `name-pid`
  kThread,   ///< `name-pid`, then `thread name-tid`
};

/// A table that a page shows beside its graphs: under "Source" if it has a column of code, else
/// under "Events".
struct PageTable {
  enum class Unit : std::uint8_t { kText, kCount, kBytes, kNanoseconds, kCode };
  struct Column {
    std::string name;
    Unit unit = Unit::kText;
  };
  /// A text where the column's unit is kText or kCode, else a number; nothing: not known.
  using Cell = std::variant<std::string, std::optional<std::uint64_t>>;

  std::string title;
  std::string note;  ///< what is left out; may be empty
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< as many cells each as there are columns
};

struct ExportOptions {
  ExportFormat format = ExportFormat::kFolded;

  SampleFilter filter;
  /// Folded, pprof and speedscope's weights add samples up, and samples of different events do not
  /// add up: unless filter.events names some, they take the event that samples where time goes, or
  /// the first one. True: take all. (Each value of an imported pprof profile has a column of its
  /// own: pprof takes all of them.)
  bool all_events = false;

  /// Formats that keep events apart count each by itself; where several are added up, kAuto is
  /// kSamples unless they have one unit.
  CountBy count = CountBy::kAuto;
  /// kFunction: all formats name functions. The other two are text of folded and speedscope; of the
  /// other formats they take the functions away.
  FrameStyle frames = FrameStyle::kFunction;
  /// Folded text and pages: addresses at the root that are no code, which broken chains of frame
  /// pointers end with, are one frame `[broken callstack]`. True: as they were recorded.
  bool keep_broken = false;
  [[nodiscard]] bool folds_broken() const { return !keep_broken && frames != FrameStyle::kAddress; }
  /// Replace an existing file that is not empty, but none that is read.
  bool force = false;
  /// The reader's file, when it has a name. The output is never that file, and gets its
  /// permissions.
  std::string source_path;
  std::uint64_t memory_limit = 96ULL << 20;  ///< bytes for what depends on samples; an aim

  // What one format alone has.
  struct {
    bool inlines = false;                 ///< a frame for each inlined call
    FoldedRoot root = FoldedRoot::kNone;  ///< what stands above the first frame
    bool annotate_kernel = false;         ///< `_[k]` after kernel frames
  } folded;
  struct {
    /// Weights instead of times; always so when the samples have no times.
    bool aggregate = false;
  } speedscope;
  struct {
    bool stack_tree = false;  ///< callstacks as a tree; an experiment
  } otlp;
  struct {
    std::vector<PageTable> tables;  ///< of a page of one file; names of a UTF-8 text
  } html;
};

/// Samples of idle threads that were left out, though all else of the filter lets them through.
struct IdleLeftOut {
  std::uint64_t samples = 0;  ///< of all events
  double value = 0;           ///< what those of the main event count for
  double whole = 0;           ///< what these and those that were kept count for
  bool pools = false;         ///< the main event is one of waits: of threads that wait for work

  /// For sentences: of what it is a share, and the option that keeps it.
  [[nodiscard]] const char* whose() const {
    return pools ? "the waiting time (threads that wait for work)" : "the processors' time";
  }
  [[nodiscard]] const char* option() const { return pools ? "--idle-pools" : "--idle"; }
  [[nodiscard]] double share() const { return whole > 0 ? value / whole : 0; }
};

struct ExportReport {
  std::uint64_t samples = 0;       ///< selected
  std::uint64_t weight = 0;        ///< what they count for in all
  std::uint64_t stacks = 0;        ///< distinct callstacks (as the output names frames) among them
  std::uint64_t output_bytes = 0;  ///< all files
  /// Name of the one event that was taken, when the options left the choice; else empty.
  std::string event;
  /// The events that were left out by that choice; without their numbers when nobody knows them.
  std::vector<EventCount> other_events;
  std::string unit;  ///< of `weight`: "samples", "ns", "cycles", ...
  IdleLeftOut idle;
};

/// Writes `output` ("-": standard output; csv: a directory, made when it is not there), which
/// appears whole or not at all. It is never a file that is read for it, whatever options.force
/// says: of those that the caller opened, it knows options.source_path.
///
/// Memory: the tables of the file, the distinct callstacks as the format names their frames, and
///         about options.memory_limit; nothing grows with the number of samples.
/// Errors: kUsage when an option names what the file does not have, or no sample is selected (the
///         text says which), or when the output is a file that is read, or would replace a file
///         that is not empty (csv: go into a directory that is not empty) without options.force;
///         those of the reader; kIo of the output.
Result<ExportReport> export_capture(const Reader& reader, const std::string& output,
                                    const ExportOptions& options);

/// Writes one page (ExportFormat::kHtml) of several .spk files; options.format and source_path are
/// ignored. Functions of one name and module are one; threads, facts and losses stay apart by file.
/// Over time captures lie by their dates when these are near each other; else each begins at 0.
/// The output appears whole or not at all, and is none of the files; any bad file is an error.
///
/// Memory: as export_capture for the distinct callstacks of all files together and for one file at
///         a time; all threads.
/// Errors: as export_capture; Error::part is the number of the file, or kOutputPart.
Result<ExportReport> export_page(std::span<const std::string> files, const std::string& output,
                                 const ExportOptions& options);

}  // namespace stackpack
