#include "formats/etl/extended_stacks.h"

#include "formats/etl/frame_list.h"
#include "io/byte_cursor.h"

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
  io::ByteCursor in(item.data, file_offset);
  const auto match_id = in.read<std::uint64_t>();
  if (!in.ok()) {
    losses_.add("bad_extended_items", LossKind::kDamage, 1, file_offset);
    return {};
  }
  ++items_;
  read_frames(in.rest(), item.type == kExtendedStack32 ? 4 : 8, scratch_);
  if (match_id == 0) {
    return emit(facts, scratch_);
  }
  ++items_with_match_id_;
  const auto found = halves_.find({match_id, facts.tid});
  if (found == halves_.end()) {
    if (held_frames_ + scratch_.size() > kMostHeldFrames) {
      if (const Status done = let_go(); !done) {
        return done;
      }
    }
    held_frames_ += scratch_.size() + 1;
    halves_.emplace(HalfKey{match_id, facts.tid}, HeldHalf{facts, scratch_});
    return {};
  }
  HeldHalf held = std::move(found->second);
  halves_.erase(found);
  held_frames_ -= held.frames.size() + 1;
  held.frames.insert(held.frames.end(), scratch_.begin(), scratch_.end());
  return emit(held.event, held.frames);
}

Status ExtendedStacks::key_item(const ExtendedItem& item, const EventFacts& facts,
                                std::uint64_t file_offset) {
  io::ByteCursor in(item.data, file_offset);
  const auto match_id = in.read<std::uint64_t>();
  const std::uint64_t key =
      item.type == kExtendedStackKey32 ? in.read<std::uint32_t>() : in.read<std::uint64_t>();
  if (!in.ok()) {
    losses_.add("bad_extended_items", LossKind::kDamage, 1, file_offset);
    return {};
  }
  const StackPart part = keys_.refer(KeySpace::kEither, key);
  if (part == kNoPart) {
    return {};
  }
  Status done;
  const auto found = key_halves_.find({match_id, facts.tid});
  if (match_id != 0 && found != key_halves_.end()) {
    const HeldKey held = found->second;
    key_halves_.erase(found);
    done = pairs_.add(held.event, held.part, part, false);
    keys_.release(held.part);
  } else if (match_id != 0 && key_halves_.size() < kMostHeldFrames / 16) {
    key_halves_.emplace(HalfKey{match_id, facts.tid}, HeldKey{facts, part});
    return {};
  } else {
    done = pairs_.add(facts, part, kNoPart, false);
  }
  keys_.release(part);
  return done;
}

// Emits the halves that wait, as they are.
Status ExtendedStacks::let_go() {
  losses_.add("match_halves_let_go", LossKind::kNotice, halves_.size());
  return finish();
}

Status ExtendedStacks::finish() {
  for (const auto& [key, half] : halves_) {
    if (const Status done = emit(half.event, half.frames); !done) {
      return done;
    }
  }
  halves_.clear();
  held_frames_ = 0;
  for (const auto& [key, half] : key_halves_) {
    const Status done = pairs_.add(half.event, half.part, kNoPart, false);
    keys_.release(half.part);
    if (!done) {
      return done;
    }
  }
  key_halves_.clear();
  return {};
}

}  // namespace stackpack::etl
