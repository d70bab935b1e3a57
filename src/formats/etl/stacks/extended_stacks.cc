#include "formats/etl/stacks/extended_stacks.h"

#include "bytes/byte_cursor.h"
#include "formats/etl/etl_losses.h"
#include "formats/etl/event/events_not_kept.h"

namespace stackpack::etl {

Status ExtendedStacks::event(const EventView& event, const EventFacts& facts,
                             std::uint64_t file_offset) {
  ExtendedItems items(event.extended);
  ExtendedItem item;
  while (items.next(item)) {
    ++item_counts_[item.type];
    Status done;
    if (item.type == kExtendedStack32 || item.type == kExtendedStack64) {
      done = stack_item(item, facts, file_offset);
    } else if (item.type == kExtendedStackKey32 || item.type == kExtendedStackKey64) {
      done = key_item(item, facts, file_offset);
    } else if (item.type != kExtendedSchema && items_not_kept_++ == 0) {
      first_not_kept_ = file_offset;
    }
    if (!done) {
      return done;
    }
  }
  return {};
}

Status ExtendedStacks::emit(const EventFacts& facts, std::span<const std::uint64_t> frames) {
  ++joined_;
  frames_ += frames.size();
  return frames.empty() ? Status() : samples_.recorded(facts, frames);
}

Status ExtendedStacks::stack_item(const ExtendedItem& item, const EventFacts& facts,
                                  std::uint64_t file_offset) {
  bytes::ByteCursor in(item.data, file_offset);
  const auto match_id = in.read<std::uint64_t>();
  if (!in.ok()) {
    losses_.add(name_of(skip::kBadExtendedItems), LossKind::kDamage, 1, file_offset);
    return {};
  }
  ++items_;
  const std::span<const std::uint64_t> frames =
      frames_of_item_.read(in.rest(), item.type == kExtendedStack32 ? 4 : 8);
  if (match_id == 0) {
    return emit(facts, frames);
  }
  ++items_with_match_id_;
  const ByMatch known = frames_by_match_.take({match_id, facts.tid, 0});
  if (!known.used()) {
    const std::uint32_t half = halves_.add({facts, keys_.hold(frames), false});
    frames_by_match_.put({match_id, facts.tid, half});
    return {};
  }
  const Half first = take(known);
  whole_.clear();
  keys_.append_frames(first.part, whole_);
  keys_.release(first.part);
  whole_.insert(whole_.end(), frames.begin(), frames.end());
  return emit(first.event, whole_);
}

ExtendedStacks::Half ExtendedStacks::take(const ByMatch& known) {
  const Half half = halves_.get(known.half);
  halves_.remove(known.half);
  return half;
}

Status ExtendedStacks::key_item(const ExtendedItem& item, const EventFacts& facts,
                                std::uint64_t file_offset) {
  bytes::ByteCursor in(item.data, file_offset);
  const auto match_id = in.read<std::uint64_t>();
  const std::uint64_t key =
      item.type == kExtendedStackKey32 ? in.read<std::uint32_t>() : in.read<std::uint64_t>();
  if (!in.ok()) {
    losses_.add(name_of(skip::kBadExtendedItems), LossKind::kDamage, 1, file_offset);
    return {};
  }
  const StackPart part = keys_.refer(KeySpace::kEither, key);
  Status done;
  if (match_id == 0) {
    done = pairs_.add(facts, part, kNoPart, false);
  } else if (const ByMatch known = keys_by_match_.take({match_id, facts.tid, 0}); known.used()) {
    const Half first = take(known);
    done = pairs_.add(first.event, first.part, part, false);
    keys_.release(first.part);
  } else {
    keys_by_match_.put({match_id, facts.tid, halves_.add({facts, part, true})});
    return {};
  }
  keys_.release(part);
  return done;
}

Status ExtendedStacks::finish() {
  if (items_not_kept_ != 0) {
    losses_.add(kItemsNotKept, LossKind::kNotice, items_not_kept_, first_not_kept_);
  }
  for (const bool keyed : {false, true}) {
    for (std::uint64_t number = 1; number <= halves_.last(); ++number) {
      const Half half = halves_.get(static_cast<std::uint32_t>(number));
      if (half.part == kNoPart || half.keyed != keyed) {
        continue;
      }
      whole_.clear();
      if (!keyed) {
        keys_.append_frames(half.part, whole_);
      }
      const Status done =
          keyed ? pairs_.add(half.event, half.part, kNoPart, false) : emit(half.event, whole_);
      keys_.release(half.part);
      if (!done) {
        return done;
      }
    }
  }
  return {};
}

}  // namespace stackpack::etl
