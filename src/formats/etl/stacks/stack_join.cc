#include "formats/etl/stacks/stack_join.h"

#include "formats/etl/etl_losses.h"

namespace stackpack::etl {

namespace {

// The idle process and System: their threads have no user half, ever.
bool lives_in_kernel(std::uint32_t pid) {
  return pid == 0 || pid == 4;
}

}  // namespace

// The event that the fragment names. Without one, what the fragment has of it.
EventFacts StackJoin::claim_event(const Fragment& fragment, ThreadNumber thread,
                                  bool any_processor) {
  const auto find_event_of = [&](ThreadNumber owner) {
    return window_.find_free(threads_.at(owner).last_event, fragment.event_clock);
  };
  RecentEvent* event = find_event_of(thread);
  if (event == nullptr) {  // an event whose header names no thread
    event = find_event_of(threads_.of(kNoId, fragment.processor));
  }
  if (event == nullptr && any_processor) {
    for (const std::uint16_t processor : threads_.processors_without_threads()) {
      event = find_event_of(threads_.of(kNoId, processor));
      if (event != nullptr) {
        break;
      }
    }
  }
  if (event == nullptr) {
    losses_.add(loss::kOrphanStacks, LossKind::kNotice, 1, fragment.file_offset);
    EventFacts facts;
    facts.clock = fragment.event_clock;
    facts.pid = fragment.pid;
    facts.tid = fragment.tid;
    facts.cpu = fragment.processor;
    facts.kind = EventKinds::kUnknownKind;
    facts.flags = kEventOrphan;
    return facts;
  }
  event->taken = true;
  samples_with_stack_ += (event->facts.flags & kEventIsSample) != 0 ? 1U : 0U;
  EventFacts facts = event->facts;
  if (facts.tid == kNoId) {
    facts.tid = fragment.tid;
  }
  if (fragment.pid != kNoId) {
    facts.pid = fragment.pid;
  }
  return facts;
}

void StackJoin::append(const StackHalf& half) {
  if (!half.frames.empty()) {
    scratch_.insert(scratch_.end(), half.frames.begin(), half.frames.end());
  } else if (half.part != kNoPart) {
    keys_.append_frames(half.part, scratch_);
  }
}

StackPart StackJoin::part_of(const StackHalf& half) {
  return half.part == kNoPart && half.known() ? keys_.hold(half.frames) : half.part;
}

// Uses up one use of the kernel half. `user` becomes a part where the callstack must wait.
Status StackJoin::emit(const EventFacts& event, const StackHalf& kernel, StackHalf& user,
                       bool borrowed) {
  const bool ready = (kernel.part == kNoPart || keys_.defined(kernel.part)) &&
                     (user.part == kNoPart || keys_.defined(user.part));
  if (!ready) {
    const StackPart kernel_part = part_of(kernel);
    user.part = part_of(user);
    const Status added = pairs_.add(event, kernel_part, user.part, borrowed);
    keys_.release(kernel_part);
    return added;
  }
  counts_.add(kernel.known(), user.known(), 1);
  counts_.borrowed += borrowed ? 1U : 0U;
  if (kernel.part == kNoPart && user.part == kNoPart) {
    counts_.frames += kernel.frames.size() + user.frames.size();
    return samples_.recorded(event, kernel.frames, user.frames);
  }
  scratch_.clear();
  append(kernel);
  append(user);
  keys_.release(kernel.part);
  counts_.frames += scratch_.size();
  return samples_.recorded(event, scratch_);
}

Status StackJoin::kernel_half(const Fragment& fragment, const StackHalf& kernel) {
  const ThreadNumber thread = threads_.of(fragment.tid, fragment.processor);
  const EventFacts event = claim_event(fragment, thread, false);
  if (lives_in_kernel(fragment.pid)) {
    StackHalf none;
    return emit(event, kernel, none, false);
  }
  if (kernel.part == kNoPart) {
    pending_.add(thread, event, kernel.frames);
  } else {
    pending_.add(thread, {event, kernel.part});
  }
  return {};
}

Status StackJoin::user_half(const Fragment& fragment, StackHalf& user) {
  const ThreadNumber thread = threads_.of(fragment.tid, fragment.processor);
  bool own_kernel_half = false;
  Status done = pending_.take_all(thread, [&](const EventFacts& event, const StackHalf& kernel) {
    const bool stale = event.clock < fragment.event_clock;
    const bool own = event.clock == fragment.event_clock;
    own_kernel_half |= own;
    counts_.stale += stale ? 1U : 0U;
    StackHalf none;
    return emit(event, kernel, stale ? none : user, !stale && !own);
  });
  if (done && !own_kernel_half) {
    const ThreadState& state = threads_.at(thread);
    if (state.closed_in == threads_.part() && fragment.event_clock < state.closed_clock) {
      ++counts_.late;
      losses_.add(loss::kLateUserHalves, LossKind::kDamage, 1, fragment.file_offset);
    } else {
      done = emit(claim_event(fragment, thread, true), {}, user, false);
    }
  }
  ThreadState& state = threads_.at(thread);
  state.closed_in = threads_.part() & ThreadState::kPartBits;
  state.closed_clock = fragment.own_clock;
  keys_.release(user.part);
  return done;
}

Status StackJoin::inline_fragment(const Fragment& fragment, std::span<const std::uint64_t> frames,
                                  bool kernel) {
  ++counts_.fragments_inline;
  if (frames.empty()) {
    losses_.add(loss::kEmptyStackFragments, LossKind::kNotice, 1, fragment.file_offset);
    return {};
  }
  const bool both = !kernel && is_kernel_address(frames.front(), pointer_size_);
  if (both || (kernel && lives_in_kernel(fragment.pid))) {  // complete as it is
    const ThreadNumber thread = threads_.of(fragment.tid, fragment.processor);
    counts_.add(true, both, 1);
    counts_.frames += frames.size();
    return samples_.recorded(claim_event(fragment, thread, both), frames);
  }
  StackHalf half{kNoPart, frames};
  return kernel ? kernel_half(fragment, half) : user_half(fragment, half);
}

// Nothing waits in between: what the lists of the thread would do is done here.
Status StackJoin::both_halves(const Fragment& fragment, std::span<const std::byte> kernel_frames,
                              std::span<const std::byte> user_frames, bool& taken) {
  const ThreadNumber thread = threads_.of(fragment.tid, fragment.processor);
  taken = !lives_in_kernel(fragment.pid) && pending_.none_of(thread);
  if (!taken) {
    return {};
  }
  counts_.fragments_inline += 2;
  const EventFacts event = claim_event(fragment, thread, false);
  ThreadState& state = threads_.at(thread);
  state.closed_in = threads_.part() & ThreadState::kPartBits;
  state.closed_clock = fragment.own_clock;
  counts_.add(true, true, 1);
  counts_.frames += (kernel_frames.size() + user_frames.size()) / sizeof(std::uint64_t);
  return samples_.recorded_as_stored(event, kernel_frames, user_frames);
}

Status StackJoin::keyed_fragment(const Fragment& fragment, std::uint64_t key, bool kernel) {
  ++counts_.key_references;
  StackHalf half{keys_.refer(kernel ? KeySpace::kKernel : KeySpace::kUser, key), {}};
  return kernel ? kernel_half(fragment, half) : user_half(fragment, half);
}

Status StackJoin::definition(std::uint64_t key, std::span<const std::uint64_t> frames,
                             std::uint64_t file_offset) {
  ++counts_.key_definitions;
  if (frames.empty()) {
    losses_.add(loss::kEmptyStackDefinitions, LossKind::kNotice, 1, file_offset);
    return {};
  }
  const KeySpace own_space =
      is_kernel_address(frames.back(), pointer_size_) ? KeySpace::kKernel : KeySpace::kUser;
  bool used = false;
  for (const KeySpace space : {own_space, KeySpace::kEither}) {
    const StackPart part = keys_.define(space, key, frames);
    if (part == kNoPart) {
      continue;
    }
    used = true;
    if (const Status kept = pairs_.part_defined(part); !kept) {
      return kept;
    }
    keys_.release(part);
  }
  if (!used) {
    losses_.add(loss::kUnusedStackDefinitions, LossKind::kNotice, 1, file_offset);
  }
  return {};
}

Status StackJoin::let_go() {
  return pending_.take_every([&](const EventFacts& event, const StackHalf& kernel) {
    StackHalf none;
    return emit(event, kernel, none, false);
  });
}

Status StackJoin::finish() {
  if (const Status done = let_go(); !done) {
    return done;
  }
  counts_.undefined_references = keys_.undefined_references();
  if (counts_.undefined_references != 0) {
    losses_.add(loss::kUndefinedStackKeys, LossKind::kDamage, counts_.undefined_references);
  }
  return pairs_.finish();
}

}  // namespace stackpack::etl
