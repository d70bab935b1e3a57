#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "capture/loss_counters.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/event_header.h"
#include "formats/etl/event_window.h"
#include "formats/etl/stack_keys.h"
#include "formats/etl/stack_pairs.h"

namespace stackpack::etl {

/// Callstacks that events carry with them, as extended data items: frames (items 5 and 6) or keys
/// (10 and 11, hexadecimal).
///
/// An item whose MatchId is not zero is one half; the other half is in a later event of the same
/// thread under the same MatchId. The callstack belongs to the first of the two events.
class ExtendedStacks {
 public:
  ExtendedStacks(StackKeys& keys, StackPairs& pairs, SampleWriter& samples,
                 capture::LossCounters& losses)
      : keys_(keys), pairs_(pairs), samples_(samples), losses_(losses) {}

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
  static constexpr std::size_t kMostHeldFrames = std::size_t{1} << 20;
  using HalfKey = std::pair<std::uint64_t, std::uint32_t>;  // MatchId, thread
  struct HeldHalf {
    EventFacts event;
    std::vector<std::uint64_t> frames;
  };
  struct HeldKey {
    EventFacts event;
    StackPart part = kNoPart;
  };

  Status stack_item(const ExtendedItem& item, const EventFacts& facts, std::uint64_t file_offset);
  Status key_item(const ExtendedItem& item, const EventFacts& facts, std::uint64_t file_offset);
  Status emit(const EventFacts& facts, std::span<const std::uint64_t> frames);
  Status let_go();

  StackKeys& keys_;
  StackPairs& pairs_;
  SampleWriter& samples_;
  capture::LossCounters& losses_;
  std::map<HalfKey, HeldHalf> halves_;
  std::map<HalfKey, HeldKey> key_halves_;
  std::size_t held_frames_ = 0;
  std::map<std::uint16_t, std::uint64_t> item_counts_;
  std::uint64_t items_ = 0;
  std::uint64_t items_with_match_id_ = 0;
  std::uint64_t joined_ = 0;
  std::uint64_t frames_ = 0;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace stackpack::etl
