#include "app/arrow/callstack_numbers.h"

#include <algorithm>
#include <memory>

#include "core/number_table.h"

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

// The rows of a block, one by one.
struct BlockRows {
  std::vector<std::uint64_t> time_ns;
  std::vector<std::uint32_t> pid;
  std::vector<StackId> stack;

  void take(SampleCursor& cursor, std::size_t rows) {
    time_ns.resize(rows);
    pid.resize(rows);
    stack.resize(rows);
    SampleArrays to;
    to.time_ns = time_ns.data();
    to.pid = pid.data();
    to.stack = stack.data();
    cursor.take(rows, to);
  }
};

}  // namespace

/// Collects the callstacks of samples. Places are numbered in the order in which samples come to
/// them.
class CallstackNumbers::Collector {
 public:
  explicit Collector(NamingPlaces& places) : places_(places) {}

  // False: more than there are numbers for.
  bool add(std::uint32_t pid, std::uint64_t time_ns, StackId stack) {
    if (stack != kNoStack) {
      const auto ask = [this](std::uint32_t asked, std::uint64_t at) {
        return places_.number(asked, at);
      };
      seen_.number(key_of(cache_.number(pid, time_ns, ask), stack));
    }
    return seen_.size() < kNone;
  }

  // The callstacks of a block without its samples. False: a place may be new or change meanwhile;
  // what was added by then is there.
  bool add_known(const StackEntries& entries) {
    const auto ask = [this](std::uint32_t pid, std::uint64_t time_ns) {
      return places_.find(pid, time_ns).value_or(NamingPlaces::Found{});
    };
    for (std::size_t i = 1; i < entries.stack.size(); ++i) {
      const auto place = cache_.number(entries.pid[i], entries.first_ns, entries.last_ns, ask);
      if (!place || seen_.size() + 1 >= kNone) {
        return false;
      }
      seen_.number(key_of(*place, entries.stack[i]));
    }
    return true;
  }

  Status add_samples(const Reader& reader, bool& fits) {
    SampleScan scan;
    scan.query.any_order = true;
    scan.columns = kTimeColumn | kPidColumn | kStackColumn | kStackEntryColumn;
    const auto cursor = SampleCursor::open(reader, scan);
    if (!cursor) {
      return cursor.error();
    }
    BlockRows block;
    while (fits) {
      const Result<std::size_t> rows = (*cursor)->ready();
      if (!rows || *rows == 0) {
        return rows ? Status{} : Status(rows.error());
      }
      if (add_known((*cursor)->stack_entries())) {
        (*cursor)->take(*rows, {});
        continue;
      }
      block.take(**cursor, *rows);
      for (std::size_t i = 0; fits && i < *rows; ++i) {
        fits = add(block.pid[i], block.time_ns[i], block.stack[i]);
      }
    }
    return {};
  }

  Status add_intervals(const Reader& reader, const query::CaptureView& view, bool& fits) {
    const query::WakerThreads threads(view);
    return reader.intervals({}, [&](std::span<const WaitInterval> rows) {
      for (std::size_t i = 0; fits && i < rows.size(); ++i) {
        const WaitInterval& row = rows[i];
        fits = add(row.pid, row.to_ns, row.stack) &&
               add(waker_pid(threads, row), row.to_ns, row.waker_stack);
      }
      return fits;
    });
  }

  // Leaves nothing here.
  std::vector<std::uint64_t> take_keys() {
    std::vector<std::uint64_t> keys(seen_.values().begin(), seen_.values().end());
    seen_.release();
    return keys;
  }

 private:
  NamingPlaces& places_;
  core::NumberTable<std::uint64_t> seen_;
  PlaceCache cache_;
};

Status CallstackNumbers::build(const Reader& reader, const query::CaptureView& view) {
  const auto collector = std::make_unique<Collector>(places_);
  bool fits = true;
  if (view.has_samples) {
    if (const Status read = collector->add_samples(reader, fits); !read) {
      return read;
    }
  }
  if (fits && reader.has_intervals()) {
    if (const Status read = collector->add_intervals(reader, view, fits); !read) {
      return read;
    }
  }
  fits = fits && std::all_of(view.stack_counts.begin(), view.stack_counts.end(),
                             [&collector](const StackCount& row) {
                               return collector->add(row.pid, kCountTime, row.stack);
                             });
  if (!fits) {
    return Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 callstacks"};
  }
  number_all(collector->take_keys());
  return {};
}

std::uint32_t waker_pid(const query::WakerThreads& threads, const WaitInterval& row) {
  if (row.waker_kind == WakerKind::kNone) {
    return kUnknownId;
  }
  const std::uint32_t thread = threads.find(row.pid, row.waker, row.to_ns);
  return thread == query::WakerThreads::kNone ? kUnknownId : threads[thread].pid;
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

bool CallstackNumbers::find_entries(const StackEntries& entries, PlaceCache& cache,
                                    std::vector<std::uint32_t>& numbers) const {
  const auto ask = [this](std::uint32_t pid, std::uint64_t time_ns) {
    return places_.find(pid, time_ns).value_or(NamingPlaces::Found{});
  };
  numbers.assign(entries.stack.size(), kNone);
  const std::size_t stacks = begin_.size() - 1;
  const std::uint32_t* const begin = begin_.data();
  const Numbered* const numbered = by_stack_.data();
  const StackId* const stack_of = entries.stack.data();
  const std::size_t size = entries.stack.size();
  for (std::size_t i = 1; i < size; ++i) {
    if (i + 2 * kAheadRows < size) {
      __builtin_prefetch(begin + std::min<std::size_t>(stack_of[i + 2 * kAheadRows], stacks));
      const std::size_t soon = std::min<std::size_t>(stack_of[i + kAheadRows], stacks);
      __builtin_prefetch(numbered + begin[soon]);
    }
    const auto place = cache.number(entries.pid[i], entries.first_ns, entries.last_ns, ask);
    const std::size_t stack = stack_of[i];
    if (!place || stack >= stacks) {
      return false;
    }
    const std::uint32_t end = begin[stack + 1];
    std::uint32_t at = begin[stack];
    if (at != end && numbered[at].place != *place) {
      at = place_of(at, end, *place);
    }
    if (at == end) {
      return false;
    }
    numbers[i] = numbered[at].number;
  }
  return true;
}

}  // namespace stackpack::app
