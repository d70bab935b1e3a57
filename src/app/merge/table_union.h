#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/merge/image_table.h"
#include "app/merge/input_processes.h"
#include "app/merge/source_set.h"
#include "capture/loss_counters.h"
#include "capture/system_tables.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// What the sources of a merge say of their resources and scopes: metadata `otlp.KEY`.
///
/// A merged file has what all its sources say alike under the same key, and the rest as
/// `source.N.otlp.KEY`, N being the row of the source. As both are taken apart into sources again
/// when the file is merged itself, neither the order nor the grouping of the inputs shows.
class SourceMetadata {
 public:
  /// Whether a key is one of these: nothing else keeps it.
  static bool has(std::string_view key);

  /// Those of an input; `sources`: its own, of a file that is none of a merge the file itself.
  /// Where inputs say different things of one source, the greater text stays.
  void add(std::span<const MergedSource> sources, std::span<const MetadataEntry> metadata);

  /// Adds the rows of a file with these sources, by key.
  void tell(std::span<const MergedSource> sources,
            std::map<std::string, std::string>& metadata) const;

 private:
  using Facts = std::map<std::string, std::string, std::less<>>;

  [[nodiscard]] Facts common(std::span<const MergedSource> sources) const;

  std::map<MergedSource::Hash, Facts> facts_;
};

/// The tables of a merge: events and metadata of all inputs, processes, threads and mappings of all
/// sources.
class TableUnion {
 public:
  /// Events and metadata of an input with these sources. Errors: kUnsupported: an imported profile
  /// among captures.
  Status add(std::span<const Event> events, std::span<const MetadataEntry> metadata,
             std::span<const MergedSource> sources);

  /// After the last add(): all events, by name; behind them those whose weights have digits behind
  /// the point, `NAME*10^-D`, which CaptureSpool takes for others of the name.
  [[nodiscard]] std::vector<Event> events() const;
  /// The numbers of an input's events in events().
  [[nodiscard]] std::vector<std::uint32_t> numbers_of(
      std::span<const Event> events, std::span<const MetadataEntry> metadata) const;

  /// Of an input with intervals: by which rules they were worked out.
  void add_intervals(std::span<const MetadataEntry> metadata);

  /// By how little times of an input may have been rounded; the most of all inputs, 0: by nothing.
  [[nodiscard]] std::uint64_t time_resolution_ns() const { return time_resolution_ns_; }

  /// Processes and threads of an input. Errors: those of the reader and of `processes`.
  Status add_lives(const Reader& reader, const SourceClock& clock, InputProcesses& processes);
  /// A mapping that frames with their recorded addresses are in.
  Status add_mapping(Module module, const SourceClock& clock, InputProcesses& processes);

  /// All of them. `numbers` of the processes; the pids of `sources` are filled in.
  [[nodiscard]] capture::SystemTables finish(const PidNumbers::Final& numbers,
                                             std::vector<MergedSource> sources,
                                             const ImageTable& images) &&;

 private:
  void add_unnamed(const PidNumbers::Final& numbers, const std::vector<MergedSource>& sources);
  [[nodiscard]] std::vector<MetadataEntry> metadata(const std::vector<MergedSource>& sources) const;

  void number_events();

  std::map<std::pair<std::string, bool>, std::uint32_t> events_;
  std::map<std::string, std::string> common_;  // metadata that all inputs have
  std::map<std::string, std::string> units_;   // of events, not scaled; empty where inputs differ
  SourceMetadata of_sources_;
  bool any_input_ = false;
  bool aggregated_ = false;
  bool synthetic_ = false;
  bool has_intervals_ = false;
  bool has_old_intervals_ = false;
  std::uint64_t time_resolution_ns_ = 0;
  capture::SystemTables tables_;
};

}  // namespace stackpack::app
