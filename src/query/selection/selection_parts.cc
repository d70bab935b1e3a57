// A pass over the samples of a file on several threads: each block is filtered, and added up where
// that may be, by the thread that has decoded it. What it comes to names threads and contexts by
// numbers of its own; they get those of the selection when the blocks are taken in their order, so
// that the numbers are those of a pass on one thread.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/index_table.h"
#include "core/saturating.h"
#include "query/selection/sample_selection.h"

namespace stackpack::query {

namespace {

constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};
constexpr Error kNotThere{ErrorCode::kCorrupt, kNoOffset, "a sample names what is not in the file"};

bool has_bound_within(std::span<const std::uint64_t> bounds, std::uint64_t first_ns,
                      std::uint64_t last_ns) {
  const auto after = std::upper_bound(bounds.begin(), bounds.end(), first_ns);
  return after != bounds.end() && *after <= last_ns;
}

void add_to(SampleCounts& counts, const SelectedSample& sample) {
  const auto add = [&](std::uint64_t& counter, bool applies) {
    counter = applies ? core::saturating_sum(counter, sample.count) : counter;
  };
  add(counts.samples, true);
  add(counts.without_callstack, sample.stack == kNoStack);
  add(counts.ip_only, sample.origin == StackOrigin::kIpOnly);
  add(counts.unwound, sample.origin == StackOrigin::kUnwound);
  add(counts.incomplete, (sample.flags & kSampleIncomplete) != 0);
  add(counts.without_root, lacks_root(sample.origin, sample.flags));
  add(counts.of_track[sample.track], true);
}

/// Rows that a thread has met, and where each stands in the part that it makes.
template <typename Key, typename Row>
class PartNumbers {
 public:
  /// Of a row, the same for each with the key. The row that is kept is the latest one.
  std::uint32_t number(const Key& key, const Row& row) {
    const auto [known, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (fresh) {
      rows_.push_back({row, 0, 0});
    } else {
      rows_[known->second].row = row;
    }
    return known->second;
  }

  /// Where a row stands among those of the part of block `block`, to which it is added once.
  std::uint32_t place(std::uint32_t number, std::uint64_t block, std::vector<Row>& part) {
    Known& known = rows_[number];
    if (known.block != block) {
      known.block = block;
      known.place = static_cast<std::uint32_t>(part.size());
      part.push_back(known.row);
    }
    return known.place;
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  struct Known {
    Row row;
    std::uint64_t block = 0;
    std::uint32_t place = 0;
  };
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Known> rows_;
};

}  // namespace

class SampleSelection::PartOfPass {
 public:
  void clear() {
    rows.clear();
    tracks.clear();
    contexts.clear();
    range = {~std::uint64_t{0}, 0};
    idle_samples = 0;
    idle_value = 0;
    kept_value = 0;
    counts = {};
  }

  std::vector<SummedSample> rows;  // their tracks and contexts are numbers of these
  std::vector<Track> tracks;       // in the order in which they first turn up, as contexts
  std::vector<ContextKey> contexts;
  TimeRange range;  // of rows
  std::uint64_t idle_samples = 0;
  double idle_value = 0;
  double kept_value = 0;
  SampleCounts counts;  // by numbers of `tracks`
};

class SampleSelection::PassOfThread {
 public:
  PassOfThread(const SampleSelection& selection, const SummedFields& fields, bool counts)
      : selection_(selection), fields_(fields), counts_(counts) {
    constexpr std::size_t kFewEvents = 4;
    const std::size_t events = selection.view_.events.size();
    slots_ = events <= kFewEvents ? std::max<std::size_t>(events, 1) : 1;
  }

  Status make(const SampleColumns& samples, PartOfPass& part) {
    begin(part);
    earliest_ns_ = *std::min_element(samples.time_ns.begin(), samples.time_ns.end());
    const bool merges = !samples.entry.empty();
    merges_block_ = merges && !has_bound_within(fields_.bounds, samples.entries.first_ns,
                                                samples.entries.last_ns);
    last_ns_ = samples.entries.last_ns;
    if (merges_block_) {
      open_.assign(samples.entries.stack.size() * slots_, {});
      open_kinds_.resize(open_.size());
    }
    for (std::size_t i = 0; i < samples.rows; ++i) {
      const std::uint32_t entry = merges ? samples.entry[i] : 0;
      if (merges_block_ && add_to_open(samples, i, entry, part)) {
        continue;
      }
      const StackId stack = merges                  ? samples.entries.stack[entry]
                            : samples.stack.empty() ? kNoStack
                                                    : samples.stack[i];
      if (const Status added = add(samples, i, stack, entry, part); !added) {
        return added;
      }
    }
    for (const OpenRow& open : open_) {
      close(open, part);
    }
    open_.clear();
    return {};
  }

  /// The same of a block that was added up. False: what holds for the first sample of an entry does
  /// not hold for all of them.
  Result<bool> sum(const EntrySums& sums, PartOfPass& part) {
    if (selection_.options_.filter.cpu || (fields_.equal_weights && !sums.equal_weights) ||
        has_bound_within(fields_.bounds, sums.first_ns, sums.last_ns)) {
      return false;
    }
    begin(part);
    earliest_ns_ = sums.first_ns;
    if (sums.event >= selection_.view_.events.size()) {
      return kNotThere;
    }
    if (!selection_.choice_.wants(sums.event)) {
      return true;
    }
    for (const EntrySum& row : sums.rows) {
      if (row.stack >= selection_.view_.stack_count) {
        return kNotThere;
      }
      const State& state = state_of(row.pid, row.tid, row.first_time_ns);
      if (state.valid_from > sums.first_ns || state.valid_until <= sums.last_ns) {
        return false;
      }
      add_sum(row, sums.event, state, part);
    }
    return true;
  }

 private:
  // Numbers of tracks hold for a block. They go when there are many, or a capture of very many
  // threads would take as much memory for each thread that reads it.
  void begin(PartOfPass& part) {
    part.clear();
    ++block_;
    if (tracks_.size() >= kMostNumbers || contexts_.size() >= kMostNumbers) {
      states_.forget();
      tracks_ = {};
      contexts_ = {};
    }
  }

  // As ThreadState, with numbers of this thread.
  struct State {
    std::uint64_t valid_from = 1;
    std::uint64_t valid_until = 0;
    std::uint32_t track = 0;
    std::uint32_t context = 0;
    bool wanted = false;
  };

  Status add(const SampleColumns& samples, std::size_t i, StackId stack, std::uint32_t entry,
             PartOfPass& part) {
    const SampleFilter& filter = selection_.options_.filter;
    const std::uint32_t event = samples.event.empty() ? 0 : samples.event[i];
    if (event >= selection_.view_.events.size() ||
        (stack != kNoStack && stack >= selection_.view_.stack_count)) {
      return kNotThere;
    }
    if (!selection_.choice_.wants(event) || (filter.cpu && *filter.cpu != samples.cpu[i])) {
      return {};
    }
    const std::uint64_t time_ns = samples.time_ns[i];
    State& state = state_of(samples.pid[i], samples.tid[i], time_ns);
    // Of threads that are not wanted, too, as it is on one thread.
    const std::uint32_t track = place_of_track(state, part);
    const std::uint32_t context = contexts_.place(state.context, block_, part.contexts);
    if (!state.wanted) {
      return {};
    }
    const std::uint64_t weight = samples.weight.empty() ? 0 : samples.weight[i];
    const std::uint32_t joined = selection_.choice_.joined(event);
    if (selection_.leaves_idle_out_ &&
        is_idle(samples.flags[i], value_of(joined, weight), 1, part)) {
      return {};
    }
    part.range.first_ns = std::min(part.range.first_ns, time_ns);
    part.range.last_ns = std::max(part.range.last_ns, time_ns);
    if (counts_) {
      count(samples.origin[i], samples.flags[i], track, part.counts);
      return {};
    }
    part.rows.push_back({time_ns, weight, 1, stack, context, joined, track});
    const bool holds = state.valid_from <= earliest_ns_ && state.valid_until > last_ns_;
    if (merges_block_) {
      const std::size_t slot = slot_of(entry, event);
      close(open_[slot], part);
      open_[slot] = {};
      if (holds && entry != 0) {
        open_[slot].row = static_cast<std::uint32_t>(part.rows.size() - 1);
        open_kinds_[slot] = {event, weight};
      }
    }
    return {};
  }

  // Whether samples are left out; what they are worth counts on either side.
  static bool is_idle(std::uint8_t flags, double value, std::uint64_t count, PartOfPass& part) {
    if ((flags & kSampleIdle) == 0) {
      part.kept_value += value;
      return false;
    }
    part.idle_samples += count;
    part.idle_value += value;
    return true;
  }

  void add_sum(const EntrySum& row, std::uint32_t event, const State& state, PartOfPass& part) {
    const std::uint32_t track = place_of_track(state, part);
    const std::uint32_t context = contexts_.place(state.context, block_, part.contexts);
    if (!state.wanted) {
      return;
    }
    const std::uint32_t joined = selection_.choice_.joined(event);
    if (selection_.leaves_idle_out_ &&
        is_idle(row.flags, value_of(joined, row.weight, row.count), row.count, part)) {
      return;
    }
    part.range.first_ns = std::min(part.range.first_ns, row.first_time_ns);
    part.range.last_ns = std::max(part.range.last_ns, row.last_time_ns);
    part.rows.push_back(
        {row.first_time_ns, row.weight, row.count, row.stack, context, joined, track});
  }

  static void count(StackOrigin origin, std::uint8_t flags, std::uint32_t track,
                    SampleCounts& counts) {
    ++counts.samples;
    counts.without_callstack += origin == StackOrigin::kNone ? 1U : 0U;
    counts.ip_only += origin == StackOrigin::kIpOnly ? 1U : 0U;
    counts.unwound += origin == StackOrigin::kUnwound ? 1U : 0U;
    counts.incomplete += (flags & kSampleIncomplete) != 0 ? 1U : 0U;
    counts.without_root += lacks_root(origin, flags) ? 1U : 0U;
    if (track >= counts.of_track.size()) {
      counts.of_track.resize(std::size_t{track} + 1);
    }
    ++counts.of_track[track];
  }

  // The row that samples of a callstack of a thread go to, and what they add to it. All that is
  // known of its first sample holds for those that come, whatever their times in the block.
  struct OpenRow {
    std::uint32_t row = kNoNumber;
    std::uint32_t count = 0;
    std::uint64_t weight = 0;
  };
  // Of its first sample: what is looked at in some passes alone.
  struct OpenKind {
    std::uint32_t event = 0;
    std::uint64_t weight = 0;
  };

  [[nodiscard]] std::size_t slot_of(std::uint32_t entry, std::uint32_t event) const {
    return slots_ == 1 ? entry : entry * slots_ + event;
  }

  // False: the sample has no open row, and add() is to look at it.
  bool add_to_open(const SampleColumns& samples, std::size_t i, std::uint32_t entry,
                   PartOfPass& part) {
    const std::uint32_t event = samples.event.empty() ? 0 : samples.event[i];
    const std::optional<std::uint32_t> cpu = selection_.options_.filter.cpu;
    if ((event >= slots_ && slots_ != 1) || (cpu && *cpu != samples.cpu[i])) {
      return false;
    }
    const std::size_t slot = slot_of(entry, event);
    OpenRow& open = open_[slot];
    const std::uint64_t weight = samples.weight.empty() ? 0 : samples.weight[i];
    if (open.row == kNoNumber ||
        (slots_ == 1 && !samples.event.empty() && event != open_kinds_[slot].event) ||
        (fields_.equal_weights && weight != open_kinds_[slot].weight) ||
        (selection_.leaves_idle_out_ && (samples.flags[i] & kSampleIdle) != 0)) {
      return false;
    }
    if (selection_.leaves_idle_out_) {
      part.kept_value += value_of(selection_.choice_.joined(event), weight);
    }
    const std::uint64_t time_ns = samples.time_ns[i];
    part.range.first_ns = std::min(part.range.first_ns, time_ns);
    part.range.last_ns = std::max(part.range.last_ns, time_ns);
    ++open.count;
    core::add_saturating(open.weight, weight);
    return true;
  }

  static void close(const OpenRow& open, PartOfPass& part) {
    if (open.count != 0) {
      SummedSample& row = part.rows[open.row];
      row.count += open.count;
      core::add_saturating(row.weight, open.weight);
    }
  }

  // What samples count for among those of the event that is shown first.
  [[nodiscard]] double value_of(std::uint32_t joined, std::uint64_t weight,
                                std::uint32_t count = 1) const {
    const EventChoice& choice = selection_.choice_;
    return joined != choice.main_event() ? 0
           : choice.weighted(joined)     ? static_cast<double>(weight)
                                         : static_cast<double>(count);
  }

  std::uint32_t place_of_track(const State& state, PartOfPass& part) {
    return fields_.track ? tracks_.place(state.track, block_, part.tracks) : 0;
  }

  State& state_of(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) {
    State& state = states_.of(pid, tid);
    if (time_ns < state.valid_from || time_ns >= state.valid_until) {
      const ThreadFound found = selection_.find_thread(pid, tid, time_ns, earliest_ns_);
      state.valid_from = found.valid_from;
      state.valid_until = found.valid_until;
      const Track& track = found.track;
      const ContextKey& context = found.context;
      if (fields_.track) {
        state.track =
            tracks_.number({track.pid, track.tid, track.process, track.thread}, found.track);
      }
      state.context = contexts_.number({context.pid, context.own, context.shared}, found.context);
      state.wanted = found.wanted;
    }
    return state;
  }

  static constexpr std::size_t kMostNumbers = KnownThreads<State>::kMostThreads;

  const SampleSelection& selection_;
  const SummedFields& fields_;
  bool counts_;
  PartNumbers<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, Track>
      tracks_;
  PartNumbers<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, ContextKey> contexts_;
  KnownThreads<State> states_;
  std::uint64_t earliest_ns_ = 0;
  std::uint64_t block_ = 0;    // how many there were
  std::uint64_t last_ns_ = 0;  // of the block
  bool merges_block_ = false;
  std::size_t slots_ = 1;      // for each entry: one for each event, or for any
  std::vector<OpenRow> open_;  // by slot
  std::vector<OpenKind> open_kinds_;
};

bool SampleSelection::reads_in_parts() const {
  return view_.parts && !numbers_ && !module_filter_.active();
}

Status SampleSelection::take_part(PartOfPass& part,
                                  const std::function<Status(std::span<const SummedSample>)>& visit,
                                  SampleCounts* counts) {
  std::vector<std::uint32_t> tracks;
  std::vector<std::uint32_t> contexts;
  for (const Track& track : part.tracks) {
    tracks.push_back(number_of(track));
  }
  for (const ContextKey& context : part.contexts) {
    contexts.push_back(number_of(context));
  }
  core::add_saturating(idle_samples_, part.idle_samples);
  idle_value_ += part.idle_value;
  kept_value_ += part.kept_value;
  if (part.rows.empty() && part.counts.samples == 0) {
    return {};
  }
  for (SummedSample& row : part.rows) {
    row.track = tracks.empty() ? 0 : tracks[row.track];
    row.context = contexts[row.context];
  }
  range_.first_ns =
      range_known_ ? std::min(range_.first_ns, part.range.first_ns) : part.range.first_ns;
  range_.last_ns = std::max(range_.last_ns, part.range.last_ns);
  range_known_ = true;
  if (counts == nullptr) {
    return visit(part.rows);
  }
  counts->samples += part.counts.samples;
  counts->without_callstack += part.counts.without_callstack;
  counts->ip_only += part.counts.ip_only;
  counts->unwound += part.counts.unwound;
  counts->incomplete += part.counts.incomplete;
  counts->without_root += part.counts.without_root;
  counts->of_track.resize(tracks_.size());
  for (std::size_t i = 0; i < part.counts.of_track.size(); ++i) {
    counts->of_track[tracks[i]] += part.counts.of_track[i];
  }
  return {};
}

Status SampleSelection::for_each_in_parts(
    const SampleScan& scan, const SummedFields& fields,
    const std::function<Status(std::span<const SummedSample>)>& visit, SampleCounts* counts) {
  SampleScan own = scan;
  if (fields.merged && (own.columns & kStackColumn) != 0) {
    own.columns = (own.columns & ~std::uint32_t{kStackColumn}) | kStackEntryColumn;
  }
  std::array<std::unique_ptr<PassOfThread>, SamplePass::kWorkers> threads;
  std::array<PartOfPass, SamplePass::kPlaces> parts;
  SamplePass pass;
  const auto of_worker = [&](std::size_t worker) -> PassOfThread& {
    if (threads[worker] == nullptr) {
      threads[worker] = std::make_unique<PassOfThread>(*this, fields, counts != nullptr);
    }
    return *threads[worker];
  };
  pass.make = [&](std::size_t worker, std::size_t place, const SampleColumns& samples) {
    return of_worker(worker).make(samples, parts[place]);
  };
  if ((own.columns & kStackEntryColumn) != 0 && counts == nullptr) {
    pass.sum = [&](std::size_t worker, std::size_t place, const EntrySums& sums) {
      return of_worker(worker).sum(sums, parts[place]);
    };
  }
  pass.take = [&](std::size_t place) { return take_part(parts[place], visit, counts); };
  return view_.parts(own, pass);
}

Result<SampleCounts> SampleSelection::count_samples() {
  SampleCounts counts;
  Status status;
  if (view_.has_samples && reads_in_parts()) {
    begin_pass();
    const SummedFields fields{.weight = false, .stack = false};
    SampleScan scan = scan_of(fields);
    scan.columns |= kOriginColumn | kFlagsColumn;
    status = for_each_in_parts(scan, fields, {}, &counts);
    if (status) {
      end_pass();
    }
  } else {
    status = for_each([&](std::span<const SelectedSample> block) {
      counts.of_track.resize(tracks_.size());
      for (const SelectedSample& sample : block) {
        add_to(counts, sample);
      }
      return Status{};
    });
  }
  if (!status) {
    return status.error();
  }
  counts.of_track.resize(tracks_.size());
  return counts;
}

}  // namespace stackpack::query
