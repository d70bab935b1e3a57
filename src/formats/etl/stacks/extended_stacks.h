#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "capture/loss_counters.h"
#include "core/index_table.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_window.h"
#include "formats/etl/stacks/frame_list.h"
#include "formats/etl/stacks/stack_keys.h"
#include "formats/etl/stacks/stack_pairs.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"

namespace stackpack::etl {

/// Callstacks that events carry with them, as extended data items: frames (items 5 and 6) or keys
/// (10 and 11, hexadecimal).
///
/// An item whose MatchId is not zero is one half; the other half is in a later event of the same
/// thread under the same MatchId. The callstack belongs to the first of the two events.
class ExtendedStacks {
 public:
  /// All references must outlive this. What fails in `space` is in its status().
  ExtendedStacks(scratch::SpillSpace& space, StackKeys& keys, StackPairs& pairs,
                 SampleWriter& samples, capture::LossCounters& losses)
      : keys_(keys),
        pairs_(pairs),
        samples_(samples),
        losses_(losses),
        halves_(space),
        frames_by_match_(space),
        keys_by_match_(space) {}

  /// Takes the stacks of one event.
  Status event(const EventView& event, const EventFacts& facts, std::uint64_t file_offset);

  /// The end of the trace: halves whose counterpart never came are callstacks, too.
  Status finish();

  [[nodiscard]] std::uint64_t items() const { return items_; }
  [[nodiscard]] std::uint64_t items_with_match_id() const { return items_with_match_id_; }
  [[nodiscard]] std::uint64_t joined() const { return joined_; }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

  /// Number of extended items by type.
  [[nodiscard]] const std::map<std::uint16_t, std::uint64_t>& item_counts() const {
    return item_counts_;
  }

 private:
  struct alignas(64) Half {
    EventFacts event;
    StackPart part = kNoPart;  // with one use
    bool keyed = false;
  };
  struct ByMatch {
    std::uint64_t match_id = 0;
    std::uint32_t tid = 0;
    std::uint32_t half = 0;
    [[nodiscard]] bool used() const { return half != 0; }
    [[nodiscard]] std::uint64_t hash() const {
      return core::mix_bits(match_id) ^ core::mix_bits(~tid);
    }
    [[nodiscard]] bool same_key(const ByMatch& other) const {
      return match_id == other.match_id && tid == other.tid;
    }
  };

  Status stack_item(const ExtendedItem& item, const EventFacts& facts, std::uint64_t file_offset);
  Status key_item(const ExtendedItem& item, const EventFacts& facts, std::uint64_t file_offset);
  Status emit(const EventFacts& facts, std::span<const std::uint64_t> frames);
  Half take(const ByMatch& known);

  StackKeys& keys_;
  StackPairs& pairs_;
  SampleWriter& samples_;
  capture::LossCounters& losses_;
  scratch::SpillRecords<Half> halves_;
  scratch::SpillTable<ByMatch> frames_by_match_;
  scratch::SpillTable<ByMatch> keys_by_match_;
  std::map<std::uint16_t, std::uint64_t> item_counts_;
  std::uint64_t items_not_kept_ = 0;
  std::uint64_t first_not_kept_ = 0;  // where the event begins
  std::uint64_t items_ = 0;
  std::uint64_t items_with_match_id_ = 0;
  std::uint64_t joined_ = 0;
  std::uint64_t frames_ = 0;
  FrameList frames_of_item_;
  std::vector<std::uint64_t> whole_;
};

}  // namespace stackpack::etl
