#include "formats/etl/stack_pairs.h"

namespace stackpack::etl {

bool StackPairs::ready(const Pair& pair) const {
  return (pair.kernel == kNoPart || keys_.defined(pair.kernel)) &&
         (pair.user == kNoPart || keys_.defined(pair.user));
}

Status StackPairs::add(const EventFacts& event, StackPart kernel, StackPart user, bool borrowed) {
  ByParts place{kernel, user, borrowed ? 1U : 0U, 0};
  place.pair = by_parts_.find(place).pair;
  if (place.used()) {
    Pair known = pairs_.get(place.pair);
    ++known.samples;
    pairs_.set(place.pair, known);
    return samples_.promised(event, static_cast<capture::PendingStack>(known.promise));
  }
  const capture::PendingStack promise = samples_.promise();
  Pair pair;
  pair.promise = static_cast<std::uint32_t>(promise);
  pair.kernel = kernel;
  pair.user = user;
  pair.borrowed = borrowed;
  pair.live = true;
  pair.samples = 1;
  place.pair = pairs_.add(pair);
  by_parts_.put(place);
  if (kernel != kNoPart) {
    keys_.add_use(kernel);
    list(place.pair, kernel);
  }
  if (user != kNoPart) {
    keys_.add_use(user);
    if (user != kernel) {
      list(place.pair, user);
    }
  }
  return samples_.promised(event, promise);
}

// Puts the pair at the end of the part's list.
void StackPairs::list(std::uint32_t number, StackPart part) {
  if (keys_.defined(part)) {
    return;
  }
  List list = lists_.get(part);
  if (list.last == 0) {
    list.first = number;
  } else {
    pairs_.change(list.last, [part, number](Pair& last) {
      (last.kernel == part ? last.after_kernel : last.after_user) = number;
    });
  }
  list.last = number;
  lists_.set(part, list);
}

Status StackPairs::part_defined(StackPart part) {
  std::uint32_t number = lists_.get(part).first;
  if (number == 0) {
    return {};
  }
  lists_.set(part, {});
  while (number != 0) {
    const Pair pair = pairs_.get(number);
    const std::uint32_t next = pair.kernel == part ? pair.after_kernel : pair.after_user;
    if (ready(pair)) {
      if (const Status settled = settle(pair); !settled) {
        return settled;
      }
      by_parts_.take({pair.kernel, pair.user, pair.borrowed ? 1U : 0U, 0});
      pairs_.remove(number);
      keys_.release(pair.kernel);
      keys_.release(pair.user);
    }
    number = next;
  }
  return {};
}

// The frames that are known, kernel half first.
Status StackPairs::settle(const Pair& pair) {
  const bool kernel = pair.kernel != kNoPart && keys_.defined(pair.kernel);
  const bool user = pair.user != kNoPart && keys_.defined(pair.user);
  if (!kernel && (!user || pair.borrowed)) {
    return {};
  }
  scratch_.clear();
  if (kernel) {
    keys_.append_frames(pair.kernel, scratch_);
  }
  if (user) {
    keys_.append_frames(pair.user, scratch_);
  }
  counts_.add(kernel, user, pair.samples);
  counts_.borrowed += kernel && user && pair.borrowed ? pair.samples : 0;
  counts_.frames += scratch_.size() * pair.samples;
  return samples_.keep_promise(static_cast<capture::PendingStack>(pair.promise), scratch_);
}

Status StackPairs::finish() {
  for (std::uint64_t number = 1; number <= pairs_.last(); ++number) {
    const Pair pair = pairs_.get(static_cast<std::uint32_t>(number));
    if (!pair.live) {
      continue;
    }
    if (const Status settled = settle(pair); !settled) {
      return settled;
    }
  }
  return {};
}

}  // namespace stackpack::etl
