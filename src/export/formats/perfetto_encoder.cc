// Perfetto's trace: a stream of packets, for ui.perfetto.dev and trace_processor.
//
// The samples of an event are a sequence of packets, which has the event's name and what it has
// named so far: callstacks, frames, images. Samples are written as they come, in time order.
//
// What threads did is a track of slices below each thread: running, blocked, woken, preempted.
// Which thread a processor ran, Perfetto's table sched, is told where samples of switches have the
// processor, which intervals do not; one that is made up would end the run of another thread.

#include <map>
#include <optional>
#include <unordered_map>

#include "core/number_table.h"
#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/formats/perfetto_fields.h"
#include "export/formats/perfetto_interning.h"
#include "export/formats/perfetto_sched.h"
#include "export/job/export_job.h"
#include "export/output/spilled_message.h"
#include "stackpack/waits.h"

namespace stackpack::exporting {

namespace {

constexpr std::uint32_t kTrackSequence = 1;
constexpr std::uint32_t kFirstEventSequence = 2;
// The upper half of the number of a track says what it is of.
constexpr std::uint64_t kProcessTracks = std::uint64_t{1} << 32;
constexpr std::uint64_t kThreadTracks = std::uint64_t{2} << 32;
constexpr std::uint64_t kStateTracks = std::uint64_t{3} << 32;

std::uint32_t cpu_mode_of(FrameMode mode) {
  switch (mode) {
    case FrameMode::kKernel:
      return perfetto::perf_sample::kModeKernel;
    case FrameMode::kUser:
      return perfetto::perf_sample::kModeUser;
    case FrameMode::kHypervisor:
      return perfetto::perf_sample::kModeHypervisor;
    case FrameMode::kGuestKernel:
      return perfetto::perf_sample::kModeGuestKernel;
    case FrameMode::kGuestUser:
      return perfetto::perf_sample::kModeGuestUser;
    default:
      return 0;
  }
}

class PerfettoEncoder {
 public:
  PerfettoEncoder(ExportJob& job, ExportOutput& out)
      : job_(job),
        out_(out),
        locations_(
            job.selection,
            {.identity = query::ImageIdentity::kFile, .style = job.named_style(), .unfold = true}),
        resolver_(job.selection, locations_, tree_) {}

  Status write() {
    const Status status = job_.selection.for_each(
        [this](std::span<const query::SelectedSample> block) { return write_samples(block); });
    if (!status) {
      return status;
    }
    job_.report.stacks = distinct_.count();
    const SampleFilter& filter = job_.options.filter;
    if (job_.reader != nullptr && job_.reader->has_intervals() && filter.events.empty()) {
      return write_intervals();
    }
    return out_.status();
  }

 private:
  // The samples of an event.
  struct Sequence {
    std::uint32_t id = 0;
    PerfettoInterning interning;
    std::unordered_map<std::uint32_t, std::uint64_t> counts;  // by processor
  };

  // Puts what is in `packet_` to the output.
  void end_packet() {
    std::string head;  // short
    append_field_head(head, perfetto::trace::kPacket, packet_.size());
    out_.write(head);
    out_.write(packet_);
    packet_.clear();
  }

  Sequence& sequence_of(std::uint32_t event) {
    if (event >= sequences_.size()) {
      sequences_.resize(std::size_t{event} + 1);
    }
    if (!sequences_[event]) {
      sequences_[event].emplace(
          Sequence{kFirstEventSequence + event, PerfettoInterning(locations_, tree_), {}});
      write_defaults(event);
    }
    return *sequences_[event];
  }

  // The name of an event, and that its sequence begins. Where its samples have no period of their
  // own, they count 1.
  void write_defaults(std::uint32_t event) {
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint32(perfetto::packet::kSequenceId, kFirstEventSequence + event);
      packet.add_uint32(perfetto::packet::kSequenceFlags, perfetto::packet::kStateCleared);
      protozero::pbf_writer defaults(packet, perfetto::packet::kDefaults);
      protozero::pbf_writer samples(defaults, perfetto::defaults::kPerfSample);
      protozero::pbf_writer timebase(samples, perfetto::defaults::kTimebase);
      if (!job_.selection.choice().weighted(event)) {
        timebase.add_uint64(perfetto::defaults::kPeriod, 1);
      }
      // It has no field for the unit of its counts.
      const query::EventChoice& choice = job_.selection.choice();
      const unsigned decimals =
          choice.weighted(event) ? core::parse_unit(choice.weight_unit(event)).decimals : 0;
      timebase.add_string(perfetto::defaults::kName,
                          core::scaled_unit(choice.name_of(event), decimals));
    }
    end_packet();
  }

  // Viewers show times as distances from the first one; the date of it is another clock.
  void write_clock(std::uint64_t first_ns) {
    const std::optional<std::uint64_t> wall = job_.selection.wall_ns(first_ns);
    if (!wall) {
      return;
    }
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
      protozero::pbf_writer snapshot(packet, perfetto::packet::kClockSnapshot);
      const auto add = [&snapshot](std::uint32_t clock, std::uint64_t time_ns) {
        protozero::pbf_writer entry(snapshot, perfetto::clock_snapshot::kClocks);
        entry.add_uint32(perfetto::clock_snapshot::kClockId, clock);
        entry.add_uint64(perfetto::clock_snapshot::kTimestamp, time_ns);
      };
      add(perfetto::clock_snapshot::kBoottime, first_ns);
      add(perfetto::clock_snapshot::kRealtime, *wall);
    }
    end_packet();
  }

  void write_process(std::uint64_t uuid, std::uint32_t pid, std::string_view name) {
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
      protozero::pbf_writer track(packet, perfetto::packet::kTrackDescriptor);
      track.add_uint64(perfetto::track::kUuid, uuid);
      protozero::pbf_writer process(track, perfetto::track::kProcess);
      process.add_int32(perfetto::process::kPid, static_cast<std::int32_t>(pid));
      if (!name.empty()) {
        process.add_string(perfetto::process::kName, name.data(), name.size());
      }
    }
    end_packet();
  }

  void write_thread(std::uint64_t uuid, std::uint32_t pid, std::uint32_t tid,
                    std::string_view name) {
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
      protozero::pbf_writer track(packet, perfetto::packet::kTrackDescriptor);
      track.add_uint64(perfetto::track::kUuid, uuid);
      protozero::pbf_writer thread(track, perfetto::track::kThread);
      if (pid != kUnknownId) {
        thread.add_int32(perfetto::thread::kPid, static_cast<std::int32_t>(pid));
      }
      thread.add_int32(perfetto::thread::kTid, static_cast<std::int32_t>(tid));
      if (!name.empty()) {
        thread.add_string(perfetto::thread::kName, name.data(), name.size());
      }
    }
    end_packet();
  }

  // Says once what a track, and its process, are called.
  void describe(std::uint32_t number) {
    if (number >= described_.size()) {
      described_.resize(std::size_t{number} + number / 2 + 64);
    }
    if (described_[number]) {
      return;
    }
    described_[number] = true;
    const query::Track& track = job_.selection.tracks()[number];
    if (track.tid == kUnknownId) {
      return;
    }
    if (track.pid != kUnknownId && processes_.try_emplace(track.pid, track.process).second) {
      write_process(kProcessTracks + track.pid, track.pid, job_.selection.process_name(track));
    }
    const std::uint64_t uuid = kThreadTracks + number;
    write_thread(uuid, track.pid, track.tid, job_.selection.thread_name(track));
    thread_tracks_[{track.pid, track.tid}] = uuid;
  }

  // The nodes at which the callstacks of samples end, by `places_`. Each is looked up once in all.
  Status resolve(std::span<const query::SelectedSample> block) {
    requests_.clear();
    places_.clear();
    for (const query::SelectedSample& sample : block) {
      const std::size_t known = known_.size();
      const std::uint32_t place =
          known_.number((std::uint64_t{sample.context} << 32) | sample.stack);
      if (place == known) {
        requests_.push_back({sample.stack, sample.context, query::StackTree::kRoot});
      }
      places_.push_back(place);
    }
    const Status status = resolver_.resolve(requests_, fresh_nodes_);
    nodes_.insert(nodes_.end(), fresh_nodes_.begin(), fresh_nodes_.end());
    return status;
  }

  Status write_samples(std::span<const query::SelectedSample> block) {
    if (!block.empty() && !any_) {
      any_ = true;
      write_clock(block.front().time_ns);
    }
    if (const Status status = resolve(block); !status) {
      return status;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      describe(block[i].track);
      write_sample(block[i], nodes_[places_[i]]);
    }
    return out_.status();
  }

  void write_sample(const query::SelectedSample& sample, std::uint32_t node) {
    const std::uint64_t value = job_.selection.value_of(sample);
    job_.report.samples += sample.count;
    core::add_saturating(job_.report.weight, value);
    distinct_.add(node);
    Sequence& sequence = sequence_of(job_.selection.choice().joined(sample.event));
    std::uint64_t& count = sequence.counts[sample.cpu];
    core::add_saturating(count, value);
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint64(perfetto::packet::kTimestamp, sample.time_ns);
      packet.add_uint32(perfetto::packet::kSequenceId, sequence.id);
      packet.add_uint32(perfetto::packet::kSequenceFlags, perfetto::packet::kNeedsState);
      if (node != query::StackTree::kRoot) {
        if (const std::string& needed = sequence.interning.need(node); !needed.empty()) {
          packet.add_message(perfetto::packet::kInternedData, needed);
        }
      }
      protozero::pbf_writer perf(packet, perfetto::packet::kPerfSample);
      if (sample.cpu != kUnknownId) {
        perf.add_uint32(perfetto::perf_sample::kCpu, sample.cpu);
      }
      if (sample.pid != kUnknownId) {
        perf.add_uint32(perfetto::perf_sample::kPid, sample.pid);
      }
      if (sample.tid != kUnknownId) {
        perf.add_uint32(perfetto::perf_sample::kTid, sample.tid);
      }
      if (node != query::StackTree::kRoot) {
        perf.add_uint64(perfetto::perf_sample::kCallstack, node);
        perf.add_uint32(perfetto::perf_sample::kCpuMode,
                        cpu_mode_of(locations_.location(tree_.location(node)).mode));
      }
      perf.add_uint64(perfetto::perf_sample::kTimebaseCount, count);
    }
    end_packet();
  }

  // The track of a thread's states, made when it is first needed.
  std::uint64_t state_track(const WaitInterval& row) {
    const auto [found, fresh] =
        state_tracks_.try_emplace({row.pid, row.tid}, kStateTracks + state_tracks_.size());
    const std::uint64_t state = found->second;
    if (!fresh) {
      return state;
    }
    const auto thread = thread_tracks_.find({row.pid, row.tid});
    std::uint64_t parent = 0;
    if (thread != thread_tracks_.end()) {
      parent = thread->second;
    } else {
      parent = kThreadTracks + (std::uint64_t{1} << 31) + state_tracks_.size();
      write_thread(parent, row.pid, row.tid, name_of(row));
    }
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
      protozero::pbf_writer track(packet, perfetto::packet::kTrackDescriptor);
      track.add_uint64(perfetto::track::kUuid, state);
      track.add_uint64(perfetto::track::kParentUuid, parent);
      track.add_string(perfetto::track::kName, "state");
    }
    end_packet();
    return state;
  }

  // Of a thread without samples.
  std::string_view name_of(const WaitInterval& row) {
    const auto& threads = job_.view().threads;
    if (names_.empty()) {
      for (const Thread& thread : threads) {
        names_.try_emplace({thread.pid, thread.tid}, thread.name);
      }
    }
    const auto found = names_.find({row.pid, row.tid});
    return found == names_.end() ? std::string_view() : found->second;
  }

  // `running`, `blocked: S`. Nothing: it is not known what the thread did.
  [[nodiscard]] std::string title_of(const WaitInterval& row) const {
    if (row.state == WaitState::kUnknown || row.state == WaitState::kExited) {
      return {};
    }
    std::string title(wait_state_name(row.state));
    if (row.state == WaitState::kBlocked && row.reason < reasons_.size() &&
        !reasons_[row.reason].empty()) {
      title += ": " + reasons_[row.reason];
    }
    return title;
  }

  void write_slice_end(std::uint64_t uuid, std::uint64_t time_ns) {
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint64(perfetto::packet::kTimestamp, time_ns);
      packet.add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
      protozero::pbf_writer event(packet, perfetto::packet::kTrackEvent);
      event.add_uint32(perfetto::track_event::kType, perfetto::track_event::kEnd);
      event.add_uint64(perfetto::track_event::kTrackUuid, uuid);
    }
    end_packet();
  }

  void write_slice(const WaitInterval& row, std::uint64_t uuid, const std::string& title) {
    const auto [name, fresh] = titles_.try_emplace(title, titles_.size() + 1);
    {
      protozero::pbf_writer packet(packet_);
      packet.add_uint64(perfetto::packet::kTimestamp, row.from_ns);
      packet.add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
      packet.add_uint32(perfetto::packet::kSequenceFlags, titles_.size() == 1 && fresh
                                                              ? perfetto::packet::kStateCleared
                                                              : perfetto::packet::kNeedsState);
      if (fresh) {
        protozero::pbf_writer interned(packet, perfetto::packet::kInternedData);
        protozero::pbf_writer entry(interned, perfetto::interned::kEventNames);
        entry.add_uint64(perfetto::text::kIid, name->second);
        entry.add_string(perfetto::text::kText, title);
      }
      protozero::pbf_writer event(packet, perfetto::packet::kTrackEvent);
      if (row.waker_kind == WakerKind::kThread) {
        protozero::pbf_writer annotation(event, perfetto::track_event::kAnnotations);
        annotation.add_string(perfetto::annotation::kName, "woken by");
        annotation.add_uint64(perfetto::annotation::kUint, row.waker);
      } else if (row.waker_kind != WakerKind::kNone) {
        protozero::pbf_writer annotation(event, perfetto::track_event::kAnnotations);
        annotation.add_string(perfetto::annotation::kName, "woken by");
        annotation.add_string(perfetto::annotation::kText, row.waker_kind == WakerKind::kInterrupt
                                                               ? "interrupt"
                                                               : "deferred procedure call");
      }
      event.add_uint32(perfetto::track_event::kType, perfetto::track_event::kBegin);
      event.add_uint64(perfetto::track_event::kNameIid, name->second);
      event.add_uint64(perfetto::track_event::kTrackUuid, uuid);
    }
    end_packet();
    write_slice_end(uuid, row.to_ns);
  }

  Status write_intervals() {
    auto reasons = job_.reader->wait_reasons();
    if (!reasons) {
      return reasons.error();
    }
    reasons_ = std::move(*reasons);
    const Status read = job_.reader->intervals({}, [this](std::span<const WaitInterval> rows) {
      for (const WaitInterval& row : rows) {
        const std::string title = title_of(row);
        if (title.empty() || row.tid == kUnknownId ||
            !job_.selection.context_at(row.pid, row.tid, row.from_ns)) {
          continue;
        }
        write_slice(row, state_track(row), title);
      }
      return static_cast<bool>(out_.status());
    });
    if (!read) {
      return read;
    }
    const Status told =
        PerfettoSched(job_, reasons_, [this](std::string_view packet) {
          packet_ = packet;
          protozero::pbf_writer(packet_).add_uint32(perfetto::packet::kSequenceId, kTrackSequence);
          end_packet();
        }).write();
    return told ? out_.status() : told;
  }

  ExportJob& job_;
  ExportOutput& out_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  DistinctCounter distinct_;
  bool any_ = false;
  std::string packet_;
  std::vector<std::optional<Sequence>> sequences_;  // by event
  std::vector<bool> described_;                     // tracks
  std::map<std::uint32_t, std::uint32_t> processes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> thread_tracks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string_view> names_;  // by pid and tid
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> state_tracks_;
  std::map<std::string, std::uint64_t> titles_;
  std::vector<std::string> reasons_;
  std::vector<query::StackResolver::Request> requests_;
  core::NumberTable<std::uint64_t> known_;  // (context, callstack)
  std::vector<std::uint32_t> nodes_;        // by number of known_
  std::vector<std::uint32_t> fresh_nodes_;
  std::vector<std::uint32_t> places_;  // of the samples of a block, in nodes_
};

}  // namespace

Status write_perfetto(ExportJob& job, ExportOutput& out) {
  if (!job.view().has_samples) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "export: the file keeps counts and no times, which perfetto needs"};
  }
  return PerfettoEncoder(job, out).write();
}

}  // namespace stackpack::exporting
