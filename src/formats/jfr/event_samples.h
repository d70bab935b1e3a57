#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/callstack_sink.h"
#include "capture/synthetic_frames.h"
#include "formats/jfr/constant_pools.h"
#include "formats/jfr/event_types.h"
#include "formats/jfr/recording_chunk.h"
#include "formats/jfr/value_reader.h"
#include "stackpack/result.h"

namespace stackpack::jfr {

enum class WeightUnit : std::uint8_t { kBytes, kTicks, kCount, kNone };

/// What a sample weighs: a member of its event's type.
struct WeightMember {
  std::string_view type;  ///< empty: of all types
  Slot slot = Slot::kNone;
  WeightUnit unit = WeightUnit::kCount;
};

/// Makes samples of events with callstacks.
class EventSamples {
 public:
  explicit EventSamples(capture::CallstackSink& sink)
      : sink_(sink),
        names_(sink.system()),
        slots_(sink.remembers_stacks() ? capture::StackMemo::kSlots : 0, 0) {}

  /// The process, as an event jdk.JVMInformation tells it.
  void set_process(const ValueRow& row, const ConstantPools& pools);

  /// What follows is of this chunk. Both must stay until the next one.
  void begin_chunk(const ChunkHeader& chunk, const ConstantPools& pools);

  /// Gives the event to the sink. False: its callstack is not there, which is counted.
  Result<bool> add(const Type& type, const ValueRow& row, std::uint64_t offset);

 private:
  struct EventRow {
    std::uint32_t index = 0;
    const WeightMember* weight = nullptr;
  };

  void lose(std::string_view loss, LossKind kind, std::uint64_t offset) {
    sink_.losses().add(loss, kind, 1, offset);
  }
  EventRow event_of(const Type& type, const ValueRow& row);
  void find_thread(const Type& type, const ValueRow& row, Sample& sample, std::uint64_t offset);
  Status give(const Sample& sample, std::uint32_t trace, std::uint64_t offset);
  Status resolve(std::uint32_t trace, std::uint64_t offset);
  std::optional<std::uint64_t> address_of(const FrameRow& frame, std::uint64_t offset);

  capture::CallstackSink& sink_;
  capture::SyntheticFrames names_;
  std::uint32_t pid_ = 1;  // where the recording does not say
  std::map<std::string, std::uint32_t> events_;
  std::map<std::uint32_t, std::string> thread_names_;
  std::vector<std::uint64_t> slots_;  // numbers of traces by StackMemo::slot
  std::uint64_t traces_given_ = 0;

  // Of the present chunk.
  const ChunkHeader* chunk_ = nullptr;
  const ConstantPools* pools_ = nullptr;
  std::vector<std::uint64_t> traces_;  // numbers among all that were given; 0: not yet
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> frames_;  // addresses
  std::map<std::pair<std::uint64_t, std::uint64_t>, EventRow> weights_;

  std::vector<std::uint64_t> addresses_;
  std::string name_;
  std::string linkage_;
};

}  // namespace stackpack::jfr
