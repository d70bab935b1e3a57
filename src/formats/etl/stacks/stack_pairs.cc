#include "formats/etl/stacks/stack_pairs.h"

#include <utility>

namespace stackpack::etl {

bool StackPairs::ready(const Pair& pair) const {
  return (pair.kernel == kNoPart || keys_.defined(pair.kernel)) &&
         (pair.user == kNoPart || keys_.defined(pair.user));
}

std::uint32_t StackPairs::find(const Pair& pair) const {
  if (pair.user == kNoPart) {
    return of_part_.get(pair.kernel).as_kernel;
  }
  if (pair.kernel == kNoPart) {
    return of_part_.get(pair.user).as_user;
  }
  return by_parts_.find({pair.kernel, pair.user, pair.borrowed ? 1U : 0U, 0}).pair;
}

void StackPairs::place(std::uint32_t number, const Pair& pair) {
  if (pair.user == kNoPart) {
    of_part_.change(pair.kernel, [number](OfPart& of) { of.as_kernel = number; });
  } else if (pair.kernel == kNoPart) {
    of_part_.change(pair.user, [number](OfPart& of) { of.as_user = number; });
  } else {
    by_parts_.put({pair.kernel, pair.user, pair.borrowed ? 1U : 0U, number});
  }
}

void StackPairs::displace(const Pair& pair) {
  if (pair.kernel != kNoPart && pair.user != kNoPart) {
    by_parts_.take({pair.kernel, pair.user, pair.borrowed ? 1U : 0U, 0});
  } else {
    place(0, pair);
  }
}

Status StackPairs::add(const EventFacts& event, StackPart kernel, StackPart user, bool borrowed) {
  Pair pair;
  pair.kernel = kernel;
  pair.user = user;
  pair.borrowed = borrowed && kernel != kNoPart;
  if (const std::uint32_t known = find(pair); known != 0) {
    pairs_.change(known, [&pair](Pair& of) {
      ++of.samples;
      pair.pending = of.pending;
    });
    return samples_.add_pending(event, static_cast<capture::PendingStack>(pair.pending));
  }
  const capture::PendingStack pending = samples_.open_pending();
  pair.pending = static_cast<std::uint32_t>(pending);
  pair.live = true;
  pair.samples = 1;
  const std::uint32_t number = pairs_.add(pair);
  place(number, pair);
  if (kernel != kNoPart) {
    keys_.add_use(kernel);
    list(number, kernel);
  }
  if (user != kNoPart) {
    keys_.add_use(user);
    if (user != kernel) {
      list(number, user);
    }
  }
  return samples_.add_pending(event, pending);
}

// Puts the pair at the end of the part's list.
void StackPairs::list(std::uint32_t number, StackPart part) {
  if (keys_.defined(part)) {
    return;
  }
  std::uint32_t last = 0;
  of_part_.change(part, [number, &last](OfPart& of) {
    last = std::exchange(of.last, number);
    of.first = last == 0 ? number : of.first;
  });
  if (last != 0) {
    pairs_.change(last, [part, number](Pair& before) {
      (before.kernel == part ? before.after_kernel : before.after_user) = number;
    });
  }
}

Status StackPairs::part_defined(StackPart part) {
  std::uint32_t number = 0;
  of_part_.change(part, [&number](OfPart& of) {
    number = std::exchange(of.first, 0);
    of.last = 0;
  });
  while (number != 0) {
    const Pair pair = pairs_.get(number);
    const std::uint32_t next = pair.kernel == part ? pair.after_kernel : pair.after_user;
    if (ready(pair)) {
      if (const Status settled = settle(pair); !settled) {
        return settled;
      }
      displace(pair);
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
  return samples_.resolve_pending(static_cast<capture::PendingStack>(pair.pending), scratch_);
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
