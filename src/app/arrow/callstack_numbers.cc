#include "app/arrow/callstack_numbers.h"

#include <algorithm>
#include <memory>

#include "core/number_table.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::app {

namespace {

Error unknown_sample() {
  return {ErrorCode::kCorrupt, kNoOffset,
          "spk: samples: another place than when they were counted"};
}

constexpr std::size_t kAheadRows = 12;

std::uint64_t key_of(std::uint32_t place, StackId stack) {
  return std::uint64_t{place} << 32 | stack;
}

}  // namespace

Status CallstackNumbers::build(const Reader& reader, const exporting::CaptureView& view) {
  core::NumberTable<std::uint64_t> seen;
  const auto cache = std::make_unique<PlaceCache>();
  const auto ask = [this](std::uint32_t pid, std::uint64_t time_ns) {
    return places_.number(pid, time_ns);
  };
  const auto add = [&](std::uint32_t pid, std::uint64_t time_ns, StackId stack) {
    if (stack != kNoStack) {
      seen.number(key_of(cache->number(pid, time_ns, ask), stack));
    }
    return seen.size() < kNone;
  };
  bool fits = true;
  if (view.has_samples) {
    SampleScan scan;
    scan.query.any_order = true;
    scan.columns = kTimeColumn | kPidColumn | kStackColumn;
    const Status read = visit_samples(reader, scan, [&](const SampleColumns& samples) {
      for (std::size_t i = 0; fits && i < samples.rows; ++i) {
        fits = add(samples.pid[i], samples.time_ns[i], samples.stack[i]);
      }
      return fits;
    });
    if (!read) {
      return read;
    }
  }
  fits = fits &&
         std::all_of(view.stack_counts.begin(), view.stack_counts.end(),
                     [&add](const StackCount& row) { return add(row.pid, kCountTime, row.stack); });
  if (!fits) {
    return Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 callstacks"};
  }
  std::vector<std::uint64_t> keys(seen.values().begin(), seen.values().end());
  seen.release();
  number_all(std::move(keys));
  return {};
}

void CallstackNumbers::number_all(std::vector<std::uint64_t> keys) {
  std::sort(keys.begin(), keys.end());
  keys_.reserve(keys.size());
  StackId highest = 0;
  for (const std::uint64_t key : keys) {
    const auto stack = static_cast<StackId>(key);
    keys_.push_back({static_cast<std::uint32_t>(key >> 32), stack});
    highest = std::max(highest, stack);
  }
  begin_.assign(std::size_t{highest} + 2, 0);
  for (const PlacedStack& key : keys_) {
    ++begin_[std::size_t{key.stack} + 1];
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) {
    begin_[i] += begin_[i - 1];
  }
  std::vector<std::uint32_t> next(begin_);
  by_stack_.resize(keys_.size());
  for (std::uint32_t number = 0; number < keys_.size(); ++number) {
    by_stack_[next[keys_[number].stack]++] = {keys_[number].place, number};
  }
}

// The one of a place among those of a stack, which are by place; `end` when it is not there.
std::uint32_t CallstackNumbers::place_of(std::uint32_t begin, std::uint32_t end,
                                         std::uint32_t place) const {
  const auto from = by_stack_.begin();
  const auto found =
      std::lower_bound(from + begin, from + end, place,
                       [](const Numbered& a, std::uint32_t wanted) { return a.place < wanted; });
  return found != from + end && found->place == place ? static_cast<std::uint32_t>(found - from)
                                                      : end;
}

Status CallstackNumbers::find(const Samples& samples, PlaceCache& cache,
                              std::uint32_t* numbers) const {
  bool known = true;
  const auto ask = [this, &known](std::uint32_t pid, std::uint64_t time_ns) {
    const auto found = places_.find(pid, time_ns);
    known = known && found.has_value();
    return found.value_or(NamingPlaces::Found{});
  };
  // Plain pointers, and two looks ahead: what is looked up is far apart in memory.
  const std::size_t stacks = begin_.size() - 1;
  const std::size_t rows = samples.stack.size();
  const std::uint32_t* const begin = begin_.data();
  const Numbered* const numbered = by_stack_.data();
  const StackId* const stack_of = samples.stack.data();
  for (std::size_t i = 0; i < rows; ++i) {
    if (i + 2 * kAheadRows < rows) {
      const std::size_t later = std::min<std::size_t>(stack_of[i + 2 * kAheadRows], stacks);
      __builtin_prefetch(begin + later);
      const std::size_t soon = std::min<std::size_t>(stack_of[i + kAheadRows], stacks);
      __builtin_prefetch(numbered + begin[soon]);
    }
    const std::size_t stack = stack_of[i];
    numbers[i] = kNone;
    if (stack == kNoStack) {
      continue;
    }
    const std::uint32_t place = cache.number(samples.pid[i], samples.time_ns[i], ask);
    std::uint32_t at = begin[std::min(stack, stacks)];
    const std::uint32_t end = stack < stacks ? begin[stack + 1] : at;
    if (at != end && numbered[at].place != place) {  // not the first, as that of most is
      at = place_of(at, end, place);
    }
    known = known && at != end;
    if (at != end) {
      numbers[i] = numbered[at].number;
    }
  }
  return known ? Status{} : Status(unknown_sample());
}

}  // namespace stackpack::app
