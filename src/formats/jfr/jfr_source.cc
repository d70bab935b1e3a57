#include "formats/jfr/jfr_source.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/jfr/constant_pools.h"
#include "formats/jfr/event_samples.h"
#include "formats/jfr/event_types.h"
#include "formats/jfr/jfr_losses.h"
#include "formats/jfr/recording_chunk.h"
#include "formats/jfr/value_reader.h"

namespace stackpack::jfr {

namespace {

constexpr std::uint64_t kMostMetadataBytes = std::uint64_t{16} << 20;

enum EventTypeId : std::uint64_t { kMetadataEvent = 0, kCheckpointEvent = 1 };

class RecordingReader {
 public:
  RecordingReader(io::ByteSource& source, std::uint64_t total, capture::CallstackSink& sink,
                  const ReadOptions& options)
      : source_(source), total_(total), sink_(sink), options_(options), samples_(sink) {
    account_.total = total;
  }

  Result<capture::ByteAccount> run() {
    sink_.system().metadata("clock.wall_offset_ns", "0");
    std::uint64_t at = 0;
    while (at < total_) {
      const Result<ChunkHeader> chunk = read_chunk_header(source_, at, total_);
      if (!chunk && (at == 0 || chunk.error().code == ErrorCode::kIo)) {
        return chunk.error();
      }
      if (!chunk) {
        skip(skip::kDamagedChunk, total_ - at);
        lose(loss::kUnfinishedChunk, LossKind::kDamage, at);
        break;
      }
      if (const Status status = read_chunk(*chunk); !status) {
        return status.error();
      }
      at = chunk->end;
    }
    account_.parsed = total_ - account_.skipped.total();
    return account_;
  }

 private:
  void lose(std::string_view loss, LossKind kind, std::uint64_t offset, std::uint64_t count = 1) {
    sink_.losses().add(loss, kind, count, offset);
  }
  void skip(capture::SkipReason reason, std::uint64_t bytes) {
    if (bytes != 0) {
      account_.skipped.add(reason, bytes);
    }
  }

  // Metadata and constants stand anywhere in a chunk, mostly at its end: it is read for them first.
  Status read_chunk(const ChunkHeader& chunk) {
    chunk_ = &chunk;
    EventTypes types_before;
    ConstantPools pools_before;
    if (!chunk.finished && is_continued_by(chunk)) {
      types_before = std::move(types_);
      pools_before = std::move(pools_);
    }
    types_ = {};
    pools_ = {};
    if (!chunk.finished) {
      lose(loss::kUnfinishedChunk, LossKind::kDamage, chunk.begin);
    }
    if (const Status status = survey(chunk); !status) {
      return status;
    }
    // Cut before what it would have said itself, it goes on with what the one before said.
    if (types_.empty()) {
      types_ = std::move(types_before);
    }
    if (pools_.empty()) {
      pools_ = std::move(pools_before);
    }
    ticks_per_second_ = chunk.ticks_per_second;
    last_ticks_ = chunk.start_ticks;
    if (types_.empty()) {
      lose(loss::kNoMetadata, LossKind::kDamage, chunk.begin);
      skip(skip::kDamagedChunk, chunk.end - chunk.begin - kHeaderBytes);
      return {};
    }
    samples_.begin_chunk(chunk, pools_);
    return convert(chunk);
  }

  // Whether a chunk goes on with the recording of the one before.
  [[nodiscard]] bool is_continued_by(const ChunkHeader& chunk) const {
    return chunk.ticks_per_second == ticks_per_second_ && chunk.start_ticks >= last_ticks_;
  }

  template <typename Take>
  Status each_event(ChunkEvents& events, const Take& take) {
    ChunkEvents::Event event;
    while (true) {
      const Result<bool> more = events.next(event);
      if (!more || !*more) {
        return more ? Status{} : Status(more.error());
      }
      if (options_.control.stop_requested()) {
        return Error{ErrorCode::kCancelled, event.offset, "jfr: cancelled"};
      }
      if (const Status taken = take(event); !taken) {
        return taken;
      }
    }
  }

  Status survey(const ChunkHeader& chunk) {
    std::vector<ChunkEvents::Event> checkpoints;
    std::map<std::uint64_t, ChunkEvents::Event> first;  // of each type
    ChunkEvents events(source_, chunk);
    const Status surveyed = each_event(events, [&](const ChunkEvents::Event& event) -> Status {
      if (event.type == kMetadataEvent) {
        return read_metadata(event);
      }
      if (event.type == kCheckpointEvent) {
        checkpoints.push_back(event);
      } else if (first.size() < EventTypes::kMostTypes) {
        first.try_emplace(event.type, event);
      }
      return checkpoints.size() * sizeof(event) <= options_.max_table_bytes
                 ? Status{}
                 : Error{ErrorCode::kLimit, event.offset, "jfr: more checkpoints than allowed"};
    });
    if (!surveyed) {
      return surveyed;
    }
    for (const ChunkEvents::Event& checkpoint : checkpoints) {
      if (const Status status = read_checkpoint(checkpoint); !status) {
        return status;
      }
    }
    for (const auto& [type, of_type] : first) {
      const Type* const known = types_.find(type);
      if (known != nullptr && known->known_as == "jdk.JVMInformation") {
        return read_process(*known, of_type);
      }
    }
    return {};
  }

  Status read_metadata(const ChunkEvents::Event& event) {
    const Result<std::vector<std::byte>> payload = read_payload(source_, event, kMostMetadataBytes);
    if (!payload) {
      return payload.error();
    }
    if (!types_.read(cursor_of(*payload, event), chunk_->coding)) {
      lose(loss::kDamagedMetadata, LossKind::kDamage, event.offset);
    }
    return {};
  }

  Status read_checkpoint(const ChunkEvents::Event& event) {
    const Result<std::vector<std::byte>> payload =
        read_payload(source_, event, options_.max_table_bytes);
    if (!payload) {
      return payload.error();
    }
    const Result<bool> whole =
        pools_.read(cursor_of(*payload, event), types_, chunk_->coding, options_.max_table_bytes);
    if (!whole) {
      return whole.error();
    }
    if (!*whole) {
      lose(loss::kDamagedCheckpoint, LossKind::kDamage, event.offset);
    }
    return {};
  }

  static bytes::ByteCursor cursor_of(std::span<const std::byte> payload,
                                     const ChunkEvents::Event& event) {
    return {payload, event.offset + event.head, bytes::ByteOrder::kBig};
  }

  Status read_process(const Type& type, const ChunkEvents::Event& event) {
    const Result<std::vector<std::byte>> payload = read_payload(source_, event, kMostMetadataBytes);
    if (!payload) {
      return payload.error();
    }
    bytes::ByteCursor in = cursor_of(*payload, event);
    ValueReader(types_, chunk_->coding).read(type, in, row_);
    if (!in.ok()) {
      lose(loss::kDamagedEvent, LossKind::kDamage, event.offset);
      return {};
    }
    samples_.set_process(row_, pools_);
    return {};
  }

  Status convert(const ChunkHeader& chunk) {
    ChunkEvents events(source_, chunk);
    const Status taken = each_event(events, [&](const ChunkEvents::Event& event) -> Status {
      options_.control.advance_to(event.offset);
      return event.type == kMetadataEvent || event.type == kCheckpointEvent ? Status{}
                                                                            : take(event, events);
    });
    if (!taken) {
      return taken;
    }
    if (const std::uint64_t left = chunk.end - events.offset(); left != 0) {
      skip(skip::kDamagedChunk, left);
      lose(loss::kDamagedEvent, LossKind::kDamage, events.offset());
    }
    return {};
  }

  // The loss that an event of the type says; empty: none.
  static std::string_view recorder_loss(const Type* type) {
    return type == nullptr                              ? std::string_view()
           : type->known_as == "jdk.DataLoss"           ? loss::kRecorderLostBytes
           : type->known_as == "jdk.CPUTimeSamplesLost" ? loss::kRecorderLostSamples
                                                        : std::string_view();
  }

  Status take(const ChunkEvents::Event& event, ChunkEvents& events) {
    const Type* const type = types_.find(event.type);
    const std::string_view of_recorder = recorder_loss(type);
    const bool is_loss = !of_recorder.empty();
    if (type == nullptr || (!is_loss && !type->has(Slot::kStackTrace))) {
      lose(loss::kEventsWithoutCallstack, LossKind::kNotice, event.offset);
      skip(skip::kEventsWithoutCallstack, event.size);
      return {};
    }
    if (event.size > ChunkEvents::kWindow) {
      lose(loss::kEventOverLimit, LossKind::kDamage, event.offset);
      skip(skip::kEventOverLimit, event.size);
      return {};
    }
    const Result<std::span<const std::byte>> payload = events.payload();
    if (!payload) {
      return payload.error();
    }
    bytes::ByteCursor in = cursor_of(*payload, event);
    ValueReader(types_, chunk_->coding).read(*type, in, row_);
    if (!in.ok()) {
      lose(loss::kDamagedEvent, LossKind::kDamage, event.offset);
      skip(skip::kDamagedEvent, event.size);
      return {};
    }
    if (is_loss) {
      lose(of_recorder, LossKind::kRecorder, event.offset, row_.number(Slot::kAmount));
      return {};
    }
    if (row_.number(Slot::kStackTrace) == 0) {
      lose(loss::kEventsWithoutCallstack, LossKind::kNotice, event.offset);
      skip(skip::kEventsWithoutCallstack, event.size);
      return {};
    }
    const Result<bool> added = samples_.add(*type, row_, event.offset);
    if (!added) {
      return added.error();
    }
    if (!*added) {
      skip(skip::kDamagedEvent, event.size);
    }
    return {};
  }

  io::ByteSource& source_;
  std::uint64_t total_;
  capture::CallstackSink& sink_;
  ReadOptions options_;
  EventSamples samples_;
  capture::ByteAccount account_;

  // Of the chunk before.
  std::uint64_t ticks_per_second_ = 0;
  std::uint64_t last_ticks_ = 0;

  // Of the present chunk.
  const ChunkHeader* chunk_ = nullptr;
  EventTypes types_;
  ConstantPools pools_;
  ValueRow row_;
};

}  // namespace

capture::Probe probe(const capture::CaptureHead& head) {
  bytes::ByteCursor in(head.bytes, 0, bytes::ByteOrder::kBig);
  return capture::probe_of_magic(in.read<std::uint32_t>() == kMagic && in.ok(),
                                 "does not begin with FLR");
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  const std::optional<std::uint64_t> total = source.size();
  if (!source.seekable() || !total) {
    return Error{ErrorCode::kUsage, kNoOffset, "jfr: the source must be seekable"};
  }
  return RecordingReader(source, *total, sink, options).run();
}

constinit const capture::SourceFormat source_format = {
    .name = "jfr",
    .probe = probe,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .ending = ".jfr",
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::jfr
