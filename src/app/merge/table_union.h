#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/merge/image_table.h"
#include "app/merge/input_processes.h"
#include "app/merge/source_clock.h"
#include "app/merge/source_metadata.h"
#include "capture/loss_counters.h"
#include "capture/system_tables.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The tables of a merge: events and metadata of all inputs, processes, threads and mappings of all
/// sources.
class TableUnion {
 public:
  /// Events and metadata of an input with these sources. Errors: kUnsupported: an imported profile
  /// among captures.
  Status add(std::span<const Event> events, std::span<const MetadataEntry> metadata,
             std::span<const MergedSource> sources);

  /// After the last add(): all events, by name.
  [[nodiscard]] std::vector<Event> events() const;
  /// The number of an event in events().
  [[nodiscard]] std::uint32_t event(const Event& event) const;

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

  std::map<std::pair<std::string, bool>, std::uint32_t> events_;
  std::map<std::string, std::string> common_;  // metadata that all inputs have
  SourceMetadata of_sources_;
  bool any_input_ = false;
  bool aggregated_ = false;
  bool synthetic_ = false;
  std::uint64_t time_resolution_ns_ = 0;
  capture::SystemTables tables_;
};

}  // namespace stackpack::app
