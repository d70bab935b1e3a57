#include "formats/nettrace/sequence_numbers.h"

#include "formats/nettrace/nettrace_losses.h"
#include "formats/nettrace/trace_header.h"

namespace stackpack::nettrace {

namespace {

constexpr std::uint32_t kHalfOfNumbers = std::uint32_t{1} << 31;

}  // namespace

void SequenceNumbers::lose(std::uint64_t events, std::uint64_t offset) {
  lost_ += events;
  losses_.add(loss::kRecorderLostEvents, LossKind::kRecorder, events, offset);
}

void SequenceNumbers::gap(std::uint32_t last, std::uint32_t now, std::uint64_t offset) {
  const std::uint32_t distance = now - last;
  if (distance == 0) {
    return;
  }
  if (distance >= kHalfOfNumbers) {
    losses_.add(loss::kSequenceWentBack, LossKind::kNotice, 1, offset);
  } else {
    lose(distance, offset);
  }
}

void SequenceNumbers::keep(std::uint64_t thread, std::uint32_t number, std::uint64_t offset) {
  if (last_.size() < kMostThreads) {
    last_[thread] = number;
  } else if (const auto known = last_.find(thread); known != last_.end()) {
    known->second = number;
  } else {
    losses_.add(loss::kThreadsOverLimit, LossKind::kDamage, 1, offset);
  }
}

void SequenceNumbers::event(std::uint64_t thread, std::uint32_t number, std::uint64_t offset) {
  const auto known = last_.find(thread);
  if (known == last_.end()) {
    if (number > 1 && number < kHalfOfNumbers) {
      lose(number - 1, offset);
    } else if (number != 1) {
      losses_.add(loss::kSequenceWentBack, LossKind::kNotice, 1, offset);
    }
    keep(thread, number, offset);
    return;
  }
  const std::uint32_t expected = known->second + 1;
  if (number != expected) [[unlikely]] {
    if (number == 1 && version_ < kNewestVersion) {
      losses_.add(loss::kThreadIdsUsedAgain, LossKind::kNotice, 1, offset);
    } else {
      gap(expected, number, offset);
    }
  }
  known->second = number;
}

void SequenceNumbers::last_was(std::uint64_t thread, std::uint32_t number, std::uint64_t offset) {
  const auto known = last_.find(thread);
  if (known != last_.end()) {
    gap(known->second, number, offset);
    known->second = number;
    return;
  }
  if (number != 0) {
    lose(number, offset);
  }
  keep(thread, number, offset);
}

void SequenceNumbers::thread_appears(std::uint64_t thread) {
  keep(thread, 0, kNoOffset);
}

bool SequenceNumbers::thread_is_gone(std::uint64_t thread, std::uint32_t number,
                                     std::uint64_t offset) {
  const auto known = last_.find(thread);
  if (known == last_.end()) {
    return false;
  }
  gap(known->second, number, offset);
  last_.erase(known);
  return true;
}

void SequenceNumbers::forget() {
  last_.clear();
}

}  // namespace stackpack::nettrace
