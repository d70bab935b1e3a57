#include "app/unwind/run_time_code.h"

#include <algorithm>
#include <set>
#include <string>

#include "capture/time_resolution.h"
#include "io/byte_source.h"
#include "io/system_file.h"
#include "io/this_machine.h"
#include "symbolize/maps/jitdump.h"

namespace stackpack::app {

namespace {

using symbolize::JitDump;

bool is_dump_of_its_process(const Module& module) {
  return module.path.ends_with("/jit-" + std::to_string(module.pid) + ".dump");
}

// When the first life of the process with that pid began.
MapTimes times_of_process(std::span<const Process> processes, std::uint32_t pid,
                          const RecordingTimes& times) {
  MapTimes of_map{std::nullopt, times.ended_ns};
  const auto process = std::find_if(processes.begin(), processes.end(),
                                    [pid](const Process& row) { return row.pid == pid; });
  if (process != processes.end() && process->start_ns != kUnknownTime && times.wall_offset_ns) {
    of_map.started_ns = static_cast<std::int64_t>(process->start_ns) + *times.wall_offset_ns;
  }
  return of_map;
}

io::Descriptor open_dump(const Module& dump, const symbolize::SymbolPlaces& places,
                         const MapTimes& times) {
  Result<io::RootedFile> file = io::open_rooted_file(places.root, dump.path);
  if (!file || places.has_root) {
    return file ? std::move(file->descriptor) : io::Descriptor();
  }
  const std::optional<io::FileOnDisk> there = io::file_on_disk(file->descriptor.get());
  const bool is_other = dump.file.inode != 0 && there && there->file.inode != dump.file.inode;
  return is_other || !objection_to_map(file->descriptor.get(), times).empty()
             ? io::Descriptor()
             : std::move(file->descriptor);
}

bool has_monotonic_times(std::span<const MetadataEntry> metadata) {
  return !capture::has_no_times(metadata) &&
         std::any_of(metadata.begin(), metadata.end(), [](const MetadataEntry& entry) {
           return entry.key == "clock.id" && entry.value == "monotonic";
         });
}

}  // namespace

RunTimeCode::RunTimeCode(const capture::SystemTables& tables, const symbolize::SymbolPlaces& places,
                         const RecordingTimes& times) {
  if (!places.has_root && !is_of_this_machine(tables.metadata)) {
    return;
  }
  const bool monotonic = has_monotonic_times(tables.metadata);
  std::set<std::uint32_t> processes;
  for (const Module& module : tables.modules) {
    if (is_dump_of_its_process(module) && processes.insert(module.pid).second) {
      add_dump(module, places, times_of_process(tables.processes, module.pid, times), monotonic);
    }
  }
  if (!pieces_.empty()) {
    map_.emplace(tables.processes, pieces_);
  }
}

void RunTimeCode::add_dump(const Module& dump, const symbolize::SymbolPlaces& places,
                           const MapTimes& times, bool monotonic) {
  const io::Descriptor file = open_dump(dump, places, times);
  if (!file) {
    return;
  }
  const auto source = io::source_of_descriptor(file.get());
  const Result<JitDump> code = JitDump::read(*source, {});
  if (!code || !code->has_frames()) {
    return;
  }
  const bool has_births = monotonic && code->has_times();
  for (std::size_t i = 0; i < code->pieces() && pieces_.size() < kMostPieces; ++i) {
    const JitDump::Frames frames = code->frames(i);
    Module& piece = pieces_.emplace_back();
    piece.pid = dump.pid;
    piece.base = frames.start;
    piece.size = frames.size;
    // Without times that can be compared, later code takes the bytes of earlier code.
    piece.start_ns = has_births ? frames.time : i;
    if (has_births && frames.reused) {
      reuses_.emplace_back(dump.pid, frames.time);
    }
    const std::span<const std::byte> kept = frames.eh_frame.first(
        frames.eh_frame.size() <= kMostBytes - bytes_.size() ? frames.eh_frame.size() : 0);
    frames_.push_back({bytes_.size(), kept.size()});
    bytes_.insert(bytes_.end(), kept.begin(), kept.end());
  }
}

std::optional<RunTimeCode::Piece> RunTimeCode::find(std::uint32_t pid, std::uint64_t time_ns,
                                                    std::uint64_t address,
                                                    unwind::Machine machine) {
  const auto hit = map_ ? map_->find(pid, time_ns, {FrameMode::kUser, address})
                        : std::optional<capture::ModuleMap::Hit>();
  if (!hit || frames_[hit->module].count == 0) {
    return std::nullopt;
  }
  // Compilers write tables as if they lay after the code, as the perf tool puts them.
  constexpr std::uint64_t kAlignment = 8;
  const Module& piece = pieces_[hit->module];
  const Frames& frames = frames_[hit->module];
  const auto table = std::span(bytes_).subspan(frames.first, frames.count);
  unwind::ElfLayout layout;
  layout.machine = machine;
  layout.code = {{piece.base, piece.base, piece.size}};
  layout.eh_frame.address = piece.base + (piece.size + kAlignment - 1) / kAlignment * kAlignment;
  layout.eh_frame.bytes.assign(table.begin(), table.end());
  found_.emplace(std::move(layout), unwind::LoadedSection());
  return Piece{hit->module, &*found_};
}

}  // namespace stackpack::app
