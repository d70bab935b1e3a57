// Compares profiles: which functions, modules, lines or callstacks have another share of the
// samples than before, how sure that is, and what could not have been seen. See docs/diff.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stackpack/export.h"
#include "stackpack/filter.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack {

/// What a row of a comparison is.
enum class DiffGrain : std::uint8_t { kFunction, kModule, kLine, kCallstack };

/// What shares are shares of.
enum class DiffUnit : std::uint8_t {
  kMeasure,  ///< what the event measures: kWeight where weights were recorded, else kSamples
  kWeight,   ///< recorded weights (periods), also those of an imported profile
  kTime,     ///< seconds of the recording: samples per second in place of shares
  kSamples,  ///< samples, each counting 1
  kRun,      ///< runs: what the event measures (processor time, cycles, ...) for each run
};

/// A cost of three digits with its unit: `3.41s`, `12.0ms`; `1.20G` of what is no time. `measure`:
/// as EventDiff::measure; `sign`: with a plus, too.
std::string cost_text(double value, std::string_view measure, bool sign = false);

struct DiffOptions {
  DiffGrain by = DiffGrain::kFunction;
  DiffUnit unit = DiffUnit::kMeasure;
  SampleFilter filter;  ///< idle threads are left out unless it says otherwise
  /// Each event is compared for itself. Without it, and without filter.events: that which samples
  /// where time goes, or else the one with most samples.
  bool all_events = false;
  /// What code without a name is: its module (kFunction), module and offset, or its address.
  FrameStyle frames = FrameStyle::kFunction;
  /// Functions, as people type them (docs/cli.md, callers): only what lies in them or is called by
  /// them counts, and all of that is the whole. Empty: everything.
  std::string whole;
  /// Where nothing has changed, something is found with at most this probability; of what is found,
  /// at most this share is a mistake, on average. 0 < rate < 1.
  double rate = 0.01;
  /// With one run a side: how much shares are taken to vary from run to run, as a part of
  /// themselves. Several runs show it.
  double run_variation = 0.1;
  /// What one run a side shows is taken for a change. Without it no verdict of one run a side is
  /// more than kUnsure: no test can know from one run how much runs differ.
  bool accept_single_run = false;
  /// With DiffUnit::kRun: what cost is for each of, "run" when empty: "request", "frame", ...
  std::string work;
  /// With DiffUnit::kRun: how much of `work` each file has done, those of `before` first; each > 0.
  /// Empty: 1 each.
  std::vector<double> work_of_files;
  /// With DiffUnit::kRun: name of an event that begins an iteration. With one file a side each
  /// iteration is a run; with several the iterations of a file are its work.
  std::string runs_by;
  /// Images or functions that are called otherwise on the new side: old name and new one.
  std::vector<std::pair<std::string, std::string>> renames;
};

enum class DiffVerdict : std::uint8_t {
  kNotSeen,  ///< no difference that chance could not make; see DiffFigure::least_visible
  kMore,
  kLess,
  kAppeared,     ///< more, and none before
  kDisappeared,  ///< less, and none left
  kTooFew,       ///< so few samples that no difference of theirs could have been one
  /// A difference that chance within the runs does not make, but there is one run a side: it may be
  /// that runs differ as much by themselves.
  kUnsure,
  /// A difference that chance does not make, of runs that cannot be compared: EventDiff::doubts.
  kDoubted,
};

/// The word of a verdict in reports: "not seen", "more", ...
std::string_view verdict_name(DiffVerdict verdict);

/// One kind of share of a row. Shares are 0 .. 1; with DiffUnit::kTime samples per second; with
/// DiffUnit::kRun cost for each unit of work, in EventDiff::measure.
/// Intervals are such that the verdict is kMore, kLess, ..., kDoubted just where they leave 0 out
/// (ratio: 1).
struct DiffFigure {
  double old_value = 0;  ///< samples or weight
  double new_value = 0;
  double old_share = 0;
  double new_share = 0;
  double difference = 0;  ///< new_share - old_share
  double low = 0;         ///< bounds of the difference
  double high = 0;
  double ratio = 1;  ///< new_share / old_share; infinite where there was none before
  double ratio_low = 0;
  double ratio_high = 0;
  /// The growth of the share that these data would have shown with a probability of 80 %; of a
  /// share above one half, the fall.
  double least_visible = 0;
  double p = 1;               ///< of the test, before many tests are allowed for
  double overdispersion = 1;  ///< of the counts, against chance alone
  DiffVerdict verdict = DiffVerdict::kNotSeen;
};

struct DiffRow {
  std::string name;          ///< as it is the same in both builds; a callstack: root first, by ';'
  std::string module;        ///< file name of the image without version; may be empty
  std::string place;         ///< lines: file:line
  bool shared_name = false;  ///< rows of other modules have this name, too
  DiffFigure self;           ///< in it
  DiffFigure total;          ///< in it or what it calls, each sample once
  std::vector<AliasList> aliases{};  ///< what the function is called, too
};

struct DiffSide {
  std::size_t runs = 0;           ///< that have selected samples of the event
  std::size_t runs_left_out = 0;  ///< the others: nothing of them is compared
  std::uint64_t samples = 0;
  double value = 0;     ///< what shares are shares of: samples, weight, or seconds
  double work = 0;      ///< DiffUnit::kRun: units of work of all runs
  double seconds = 0;   ///< from first to last samples of the runs; 0: the files have no times
  double unpaired = 0;  ///< share of samples whose own function (self) is on this side alone
  IdleLeftOut idle;
};

/// How the overdispersion of counts was found.
enum class DiffScatter : std::uint8_t {
  kRuns,     ///< from several runs
  kBlocks,   ///< from stretches of one run a side
  kAssumed,  ///< neither: no times, or too short
};

/// Why something of the old side is compared with something of another name.
enum class DiffRenameReason : std::uint8_t {
  kBuildId,   ///< the images have the same build id
  kNames,     ///< the images have most names of functions in common
  kAsked,     ///< DiffOptions::renames
  kNotThere,  ///< DiffOptions::renames, and the old side has nothing of that name
};

struct DiffRename {
  std::string before;
  std::string after;
  DiffRenameReason reason = DiffRenameReason::kAsked;
  std::size_t equal_names = 0;  ///< kNames: of functions that both images have ...
  std::size_t names = 0;        ///< ... among those of the one with fewer
};

/// The comparison of one event.
struct EventDiff {
  std::string event;
  DiffUnit unit = DiffUnit::kSamples;  ///< never kMeasure
  std::string measure = "samples";     ///< what DiffSide::value is counted in: "ns", ...
  DiffSide old_side;
  DiffSide new_side;
  DiffScatter scatter = DiffScatter::kRuns;
  std::size_t blocks = 0;    ///< kBlocks: of each run
  std::size_t tests = 0;     ///< shares that were compared
  std::size_t left_out = 0;  ///< callstacks with too few samples, which have no row
  double level = 0;          ///< of the intervals: 1 - level is their confidence
  /// DiffUnit::kRun: the cost of everything that is compared, tested for itself with
  /// DiffOptions::rate.
  std::optional<DiffFigure> whole;
  std::string work;                 ///< DiffUnit::kRun: what cost is for each of
  std::vector<std::string> doubts;  ///< DiffUnit::kRun: why costs cannot be compared; sentences
  std::vector<DiffRename> renames;
  std::vector<DiffRow> rows;  ///< surest difference first, then by share
};

struct DiffReport {
  DiffGrain by = DiffGrain::kFunction;
  DiffUnit unit = DiffUnit::kSamples;  ///< of the first event
  std::vector<EventDiff> events;
  std::vector<std::string> events_left_out;  ///< of the choice among events, and on one side only
};

/// Compares the samples of files: `before` and `after` are runs of the same thing on each side.
///
/// Memory: as an export by names of each side: the tables of one file, and the distinct callstacks
///         by their functions. Threads: one a side.
/// Errors: kUsage when options ask for what the files do not have, or a side has no sample; those
///         of the readers. Error::part is the number of the file, those of `before` first.
Result<DiffReport> compare_profiles(std::span<const Reader* const> before,
                                    std::span<const Reader* const> after,
                                    const DiffOptions& options);

/// A function as it is called in reports: its name, and the file name of its image.
struct CountedFunction {
  std::string name;
  std::string module;    ///< may be empty
  std::string build_id;  ///< of the image, in hexadecimal digits; may be empty
};

/// What samples of a run count for in a function: `total` each sample once that runs through it.
struct FunctionCount {
  std::uint32_t function = 0;  ///< index
  std::uint64_t self = 0;
  std::uint64_t total = 0;
};

/// A run whose samples were summed up before: samples, or their weights.
struct CountedRun {
  std::uint64_t value = 0;            ///< of all samples, with those that have no callstack
  std::uint64_t samples = 0;          ///< how many; a run of none is left out
  double squares = 0;                 ///< sum of the squares of what each sample counts for
  std::vector<FunctionCount> counts;  ///< each function once at most
};

/// What is known of the event of runs that were summed up.
struct CountedEvent {
  std::string name;
  DiffUnit unit = DiffUnit::kSamples;  ///< kSamples or kWeight: what values are
  std::string measure = "samples";     ///< as EventDiff::measure
};

/// The same comparison of functions for runs that were summed up, such as those in tables of many
/// captures: the figures are those of compare_profiles over the captures where there are several
/// runs a side. With one a side the scatter within it is not known (DiffScatter::kAssumed).
///
/// Of the options `rate`, `run_variation`, `accept_single_run` and `renames` count.
/// Errors: kUsage when a side has no sample, or counts do not add up.
Result<EventDiff> compare_counts(std::span<const CountedRun> before,
                                 std::span<const CountedRun> after,
                                 std::span<const CountedFunction> functions,
                                 const CountedEvent& event, const DiffOptions& options);

/// Both sides' samples by callstack of functions, `root;...;leaf OLD NEW` one a line, sorted, for
/// differential flame graphs. The first event chosen. Errors: as compare_profiles.
Result<std::string> folded_differences(std::span<const Reader* const> before,
                                       std::span<const Reader* const> after,
                                       const DiffOptions& options);

// ---- gates ----

enum class GateMeasure : std::uint8_t {
  kShare,     ///< points of a share
  kRelative,  ///< a part of what it was
  kCost,      ///< an amount in EventDiff::measure
};
enum class GateFigure : std::uint8_t { kBoth, kSelf, kTotal };

/// A sentence such as `total cpu +3%`, `function of mylib!* cpu +50ms from 1%` or `self share
/// +0.5pp`; docs/diff.md has them all. It fails where the whole interval is at least that far. A
/// minus asks for what has become less.
struct GateCondition {
  GateMeasure measure = GateMeasure::kShare;
  GateFigure figure = GateFigure::kBoth;
  double limit = 0;     ///< a part of 1, or an amount, with the sign of the direction
  double least = 0;     ///< only rows with this share on one side
  std::string pattern;  ///< functions, as DiffOptions::whole; empty: all
  /// "cpu", "blocked", "cycles", "instructions" or "cost": about events with DiffUnit::kRun. Empty:
  /// about shares.
  std::string cost_of;
  bool whole = false;  ///< about EventDiff::whole in place of rows
  std::string text;    ///< as it was given
};
/// Nothing when `text` is no condition: `problem`, unless it is null, says which word is wrong, and
/// what would be possible there; `place`, unless it is null, is the offset of that word in `text`.
std::optional<GateCondition> parse_gate_condition(std::string_view text,
                                                  std::string* problem = nullptr,
                                                  std::size_t* place = nullptr);

/// A change that is known: rows that fit `pattern` fail no condition, unless their interval lies
/// beyond `limit`. The pattern `(everything)` is EventDiff::whole.
struct AllowedChange {
  std::string pattern;
  GateMeasure measure = GateMeasure::kShare;
  std::optional<double> limit;
  std::string text;
};
/// A list of them: one a line, `PATTERN`, or `PATTERN up to +2pp`, `up to +20%` or `up to +50ms`;
/// blank lines and those that begin with `#` say nothing. Error::offset is that of the line.
Result<std::vector<AllowedChange>> parse_allowed_changes(std::string_view text);

/// What a gate goes by, as a file of the repository says it.
struct GateRules {
  std::vector<GateCondition> conditions;                     ///< fail-if
  std::vector<AllowedChange> allowed;                        ///< allow
  std::vector<std::pair<std::string, std::string>> renames;  ///< rename: as DiffOptions::renames
  std::string baseline;             ///< a folder of baselines, as it is written; may be empty
  std::optional<std::size_t> last;  ///< commits of it; 0: all
  bool strict = false;              ///< what is undecided fails, too
};
/// The rules of a file in TOML, with the keys `fail-if`, `allow` (arrays of texts), `rename` (a
/// table), `baseline`, `last` and `strict`; docs/diff.md, Gates. All may be left out. Errors:
/// kCorrupt, with line, column and cause in `problem`, unless it is null; kLimit for more than 64
/// KiB, or 100 dots in a line.
Result<GateRules> parse_gate_rules(std::string_view text, std::string* problem = nullptr);

struct GateFinding {
  std::size_t condition = 0;  ///< index
  std::size_t event = 0;
  std::size_t row = 0;
  bool self = false;   ///< its self figure; else its total
  bool whole = false;  ///< EventDiff::whole in place of a row
  bool allowed = false;
  /// There is one run a side, or the runs cannot be compared: nothing fails for this.
  bool unsure = false;
};

enum class GateOutcome : std::uint8_t {
  kPassed,
  kFailed,
  /// Nothing failed for sure, but there are findings of one run a side, or some change of that size
  /// would not have been seen: that is not `passed`.
  kUndecided,
};
std::string_view outcome_name(GateOutcome outcome);

struct GateResult {
  GateOutcome outcome = GateOutcome::kPassed;
  std::size_t visible = 0;      ///< figures in which a change of that size would have been seen
  std::size_t not_visible = 0;  ///< others, which did not fail
  std::size_t unsure = 0;       ///< findings that are unsure, and not allowed
  double least_visible = 0;     ///< the largest of theirs, in the condition's measure
  std::string least_visible_in;
  std::string reason;  ///< why it is undecided, where that is not for figures that are counted here
};

struct GateReport {
  std::vector<GateResult> results;  ///< by condition
  std::vector<GateFinding> findings;
  std::vector<bool> used;  ///< by allowed change

  [[nodiscard]] bool failed() const;
  [[nodiscard]] bool undecided() const;
};

struct GateOptions {
  /// As DiffOptions::accept_single_run: without it such a condition is undecided.
  bool accept_single_run = false;
};

/// Errors: kUsage when a condition does not go with the unit (`share` with DiffUnit::kTime).
Result<GateReport> check_gate(const DiffReport& report, std::span<const GateCondition> conditions,
                              std::span<const AllowedChange> allowed,
                              const GateOptions& options = {});

/// One line for a person: `FUNCTION: self +1.2pp (at least +0.8pp) ...`. `name`: what the function
/// is called in it; empty: as its row is.
std::string finding_text(const DiffReport& report, std::span<const GateCondition> conditions,
                         const GateFinding& finding, std::string_view name = {});

}  // namespace stackpack
