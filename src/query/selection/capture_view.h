#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sample_cursor.h"
#include "symbols/symbol_index.h"

namespace stackpack::query {

/// A capture as the exporters see it: its tables, read once, and ways to its samples and stacks.
///
/// All text is valid UTF-8: what was not is replaced by U+FFFD, since JSON, protobuf and SQL
/// clients refuse it. Tests make views by hand.
struct CaptureView {
  std::vector<Event> events;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Module> modules;
  std::vector<MetadataEntry> metadata;
  Names names;
  StackId stack_count = 0;

  /// False: there are `stack_counts` and no samples. The times of modules and processes are
  /// unknown then, so that every mapping counts as there all the time.
  bool has_samples = true;
  std::vector<StackCount> stack_counts;

  /// As Reader::samples.
  std::function<Status(const SampleQuery&,
                       const std::function<bool(std::span<const StoredSample>)>&)>
      samples;
  /// As visit_samples().
  std::function<Status(const SampleScan&, const std::function<bool(const SampleColumns&)>&)>
      columns;
  /// As visit_samples_in_parts(); unset: only columns() has samples.
  std::function<Status(const SampleScan&, const SamplePass&)> parts{};
  /// As Reader::sample_field_block: of the samples that samples() gives without conditions, in
  /// their order. Unset: they have none.
  std::function<Status(std::size_t, std::vector<FieldRow>&)> fields{};
  std::vector<ControlGroup> control_groups{};
  /// As Reader::label_sets; unset: samples have no labels.
  std::function<Status(const std::function<bool(std::span<const LabelSet>)>&)> label_sets{};
  /// As Reader::callstacks.
  std::function<Status(std::span<const StackId>,
                       const std::function<bool(std::size_t, std::span<const Frame>)>&)>
      callstacks;

  /// Where distances from the start begin; unset: at the first sample.
  std::optional<std::uint64_t> start_ns{};
  /// The first of the events that are made of intervals (wait_events.h); those after it are, too.
  std::uint32_t first_wait_event = ~std::uint32_t{0};

  /// Waker or reason of a callstack, with a WaitDetail that has it; unset else.
  std::function<std::string_view(StackId)> wait_label{};

  /// Samples of each event; empty when nobody counted them.
  std::vector<std::uint64_t> event_samples;
  std::vector<LossCounter> losses;  ///< of the whole capture
  std::string source_kind;          ///< "perf", "etl", ...
  std::uint64_t source_count = 0;   ///< captures of a merged file; 0: it is none
  bool unwound = false;             ///< user frames were found by unwind tables
  /// Of a merged file: the first process number of each source, ascending.
  std::vector<std::uint64_t> source_firsts;
  /// One where nobody counted.
  [[nodiscard]] std::uint64_t samples_of_event(std::size_t event) const {
    return event < event_samples.size() ? event_samples[event] : 1;
  }

  /// True for an imported profile: a sample stands for as many as its weight says.
  [[nodiscard]] bool aggregated() const;

  /// Whether times of samples say when they were taken.
  [[nodiscard]] bool has_times() const;
  /// Whether callers are recorded as return addresses, as sampling kernels do. What other profilers
  /// exported has addresses within the calling instruction already.
  [[nodiscard]] bool has_return_addresses() const { return !aggregated(); }

  /// What is to be known for looking up addresses.
  [[nodiscard]] symbols::SymbolIndex::Facts address_facts() const;

  /// The value of a metadata key; empty when there is none.
  [[nodiscard]] std::string_view fact(std::string_view key) const;
};

/// Keys of metadata which importers set.
inline constexpr std::string_view kSyntheticFramesKey = "frames.synthetic";
inline constexpr std::string_view kAggregatedKey = "samples.aggregated";
inline constexpr std::string_view kUnitKey = "pprof.unit.";  ///< and the name of an event
/// Name of the event that a report shows first.
inline constexpr std::string_view kDefaultEventKey = "pprof.default_event";
inline constexpr std::string_view kWallOffsetKey = "clock.wall_offset_ns";

/// What a control group is called: its path, or `cgroup ID` where none was recorded.
std::string control_group_title(const ControlGroup& group);

/// The reader must outlive the view.
Result<CaptureView> view_of(const Reader& reader);

}  // namespace stackpack::query
