// Whether a capture is of this machine, and when it was recorded: what files are believed by that
// have no build id.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/system_tables.h"
#include "stackpack/model.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// Whether a capture says that it is of this machine: the name of its host is that of this one.
/// One that has no host is of another machine.
bool is_of_this_machine(std::span<const MetadataEntry> metadata);

/// When something was recorded, by the wall clock: ns since 1970. Nothing: not known.
struct RecordingTimes {
  std::optional<std::int64_t> wall_offset_ns;  ///< to be added to times of the capture
  std::optional<std::int64_t> ended_ns;
};

/// The capture says the offset where it knows the wall clock. Otherwise its clock counts from the
/// start of this machine, for one that was recorded here, unless the file `path`, into which the
/// recording went, was written too early for that. Without an offset the recording ended when that
/// file was written. `last_ns`: the last time of the capture, where it has times.
RecordingTimes times_of_recording(std::optional<std::uint64_t> last_ns,
                                  std::span<const MetadataEntry> metadata, const std::string& path);

/// The last time at which something is known of a process or mapping.
std::optional<std::uint64_t> last_time_of(const capture::SystemTables& tables);

/// When a process started and the recording ended, in ns since 1970. Nothing: not known.
struct MapTimes {
  std::optional<std::int64_t> started_ns;
  std::optional<std::int64_t> ended_ns;
};

/// Why an open file is not the one that a process wrote about the code that it made: it belongs to
/// neither this user nor root, was last written before the process started, or was made after the
/// recording ended. Empty: nothing speaks against it; times that are not known forbid nothing.
std::string_view objection_to_map(int descriptor, const MapTimes& times);

/// For a capture of this machine, `places` afterwards also has the files of this machine that are
/// believed by their inode or path, and what its kernel maps where that is the recorded one.
/// Nothing changes with a root of the user's.
void believe_this_machine(symbolize::SymbolPlaces& places, std::span<const MetadataEntry> metadata,
                          const RecordingTimes& times);

}  // namespace stackpack::app
