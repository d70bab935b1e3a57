#include "export/html/lane_reading.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "bytes/utf8.h"
#include "core/saturating.h"
#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

constexpr std::uint64_t kFirstThread = 4;  // wakers below it are kinds without a thread
constexpr std::uint8_t kGap = 6;           // in place of a WaitState
constexpr std::uint64_t kSameAsBefore = 1;
constexpr std::uint64_t kFirstRank = 2;
constexpr unsigned kFlagShift = 3;
constexpr unsigned kHalf = 32;
constexpr std::uint64_t kLowHalf = 0xFFFF'FFFF;

constexpr std::array<std::pair<WaitState, std::string_view>, 3> kWaitMeasures = {
    {{WaitState::kBlocked, "blocked"},
     {WaitState::kWoken, "woken"},
     {WaitState::kPreempted, "preempted"}}};

std::uint64_t pair_of(std::uint64_t high, std::uint64_t low) {
  return high << kHalf | low;
}

std::uint32_t high_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> kHalf);
}

std::uint32_t low_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key & kLowHalf);
}

LaneColumn length_column(WaitState state) {
  switch (state) {
    case WaitState::kRunning:
      return LaneColumn::kRunLengths;
    case WaitState::kWoken:
    case WaitState::kPreempted:
      return LaneColumn::kReadyLengths;
    default:
      return LaneColumn::kWaitLengths;
  }
}

bytes::ByteWriter& column_of(PageLanes& lanes, LaneColumn column) {
  return lanes.columns[static_cast<std::size_t>(column)];
}

bool chooses_threads(const SampleFilter& filter) {
  return filter.pid || filter.tid || !filter.comms.empty();
}

}  // namespace

void LaneTicks::add(std::uint64_t length_ns) {
  ++lengths_[static_cast<std::size_t>(std::bit_width(length_ns))];
}

double LaneTicks::bits_at(std::uint64_t tick_ns) const {
  const double per_tick = std::log2(static_cast<double>(tick_ns));
  double bits = 0;
  for (std::size_t width = 1; width < lengths_.size(); ++width) {
    // The first bit of a length is always set: which one it is, is told otherwise.
    const double own = static_cast<double>(width) - 1 - per_tick;
    bits += static_cast<double>(lengths_[width]) * std::max(0.0, own);
  }
  return bits;
}

std::uint64_t LaneTicks::choose(std::uint64_t span_ns) const {
  constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 31;
  constexpr std::uint64_t kLongest = 1'000'000'000'000'000'000;
  constexpr std::array<std::uint64_t, 3> kFactors = {1, 2, 5};
  for (std::uint64_t power = 1; power < kLongest; power *= 10) {
    for (const std::uint64_t factor : kFactors) {
      const std::uint64_t tick = power * factor;
      if (span_ns / tick < kMostTicks - 1 && bits_at(tick) <= static_cast<double>(kMostBits)) {
        return tick;
      }
    }
  }
  return kLongest;
}

void RankedKeys::count(std::uint64_t key) {
  const std::uint32_t number = numbers_.number(key);
  counts_.resize(numbers_.size());
  ++counts_[number];
}

void RankedKeys::rank() {
  std::vector<std::uint32_t> order(numbers_.size());
  std::iota(order.begin(), order.end(), 0U);
  core::sort_rows(order,
                  [this](std::uint32_t a, std::uint32_t b) { return counts_[a] > counts_[b]; });
  ranks_.resize(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
    ranks_[order[rank]] = rank;
    keys_.push_back(numbers_[order[rank]]);
  }
}

std::uint32_t RankedKeys::rank_of(std::uint64_t key) {
  return ranks_[numbers_.number(key)];
}

LaneReading::LaneReading(ExportJob& job) : job_(job), threads_(job.view()), pools_({}) {}

// Intervals have no processor, and whether a callstack has some image is not asked of them.
bool LaneReading::is_wanted() const {
  const SampleFilter& filter = job_.options.filter;
  return job_.reader != nullptr && job_.reader->has_intervals() && !filter.cpu &&
         filter.modules.empty() && filter.excluded_modules.empty();
}

bool LaneReading::has_measures(const PageContent& content) const {
  const SampleFilter& filter = job_.options.filter;
  return filter.events.empty() && filter.longer_than_ns == 0 &&
         filter.wait_detail == WaitDetail::kNone && job_.options.count != CountBy::kSamples &&
         content.measures.size() + kWaitMeasures.size() <= kMostPageMeasures;
}

// `see` gets all rows, `take` those that are wanted, with what their addresses mean.
Status LaneReading::each_row(const std::function<void(const WaitInterval&)>& see,
                             const TakeRow& take) {
  return job_.reader->intervals({}, [&](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      see(row);
      if (const auto context = job_.selection.context_at(row.pid, row.tid, row.to_ns)) {
        take(row, *context);
      }
    }
    return true;
  });
}

Status LaneReading::survey(query::StackResolver& resolver) {
  if (!is_wanted()) {
    return {};
  }
  Result<std::vector<std::string>> reasons = job_.reader->wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  for (const std::string& reason : *reasons) {
    lanes_.reasons.push_back(bytes::valid_utf8(reason));
  }
  pools_ = query::IdlePools(std::move(*reasons));
  const Status read =
      each_row([this](const WaitInterval& row) { pools_.add(row); },
               [this](const WaitInterval& row, std::uint32_t context) { note(row, context); });
  pools_.end_thread();
  return read ? resolve(resolver) : read;
}

Status LaneReading::resolve(query::StackResolver& resolver) {
  std::vector<query::StackResolver::Request> requests;
  requests.reserve(stacks_.size());
  for (const std::uint64_t key : stacks_.values()) {
    requests.push_back({low_of(key), high_of(key), query::StackTree::kRoot});
  }
  return requests.empty() ? Status{} : resolver.resolve(requests, resolved_);
}

// Its row + 1; 0 for none.
std::uint32_t LaneReading::stack_of(StackId stack, std::uint32_t context) {
  return stack == kNoStack ? 0 : stacks_.number(pair_of(context, stack)) + 1;
}

std::uint64_t LaneReading::spot_of(const WaitInterval& row, std::uint32_t context) {
  return pair_of(row.reason, stack_of(row.stack, context));
}

// An interrupt came upon the thread that ran: its callstack says nothing of who ended the wait.
std::uint64_t LaneReading::waker_of(const WaitInterval& row) {
  if (row.waker_kind != WakerKind::kThread) {
    return pair_of(static_cast<std::uint64_t>(row.waker_kind), 0);
  }
  const std::uint32_t known = threads_.find(row.pid, row.waker, row.to_ns);
  const std::uint32_t pid = known == query::WakerThreads::kNone ? kUnknownId : threads_[known].pid;
  const std::uint32_t context = job_.selection.context_of(pid, row.waker, row.to_ns);
  return pair_of(kFirstThread + who_.number(pair_of(pid, row.waker)),
                 stack_of(row.waker_stack, context));
}

void LaneReading::note(const WaitInterval& row, std::uint32_t context) {
  ++rows_;
  ticks_.add(row.to_ns - row.from_ns);
  first_ns_ = std::min(first_ns_, row.from_ns);
  last_ns_ = std::max(last_ns_, row.to_ns);
  if (row.state == WaitState::kRunning) {
    return;
  }
  if (const std::uint64_t spot = spot_of(row, context); spot != 0) {
    spots_.count(spot);
  }
  if (const std::uint64_t waker = waker_of(row); waker != 0) {
    wakers_.count(waker);
  }
}

void LaneReading::put_bits(std::uint64_t bits, unsigned count) {
  open_bits_ |= bits << open_count_;
  open_count_ += count;
  constexpr unsigned kByte = 8;
  for (; open_count_ >= kByte; open_count_ -= kByte) {
    column_of(lanes_, LaneColumn::kLengthBits).write(static_cast<std::uint8_t>(open_bits_));
    open_bits_ >>= kByte;
  }
}

// How many bits it has, and those below the first one.
void LaneReading::put_length(WaitState state, std::uint64_t ticks) {
  const auto width = static_cast<unsigned>(std::bit_width(ticks));
  column_of(lanes_, length_column(state)).write(static_cast<std::uint8_t>(width));
  if (width > 1) {
    put_bits(ticks ^ (std::uint64_t{1} << (width - 1)), width - 1);
  }
}

void LaneReading::put_interval(std::uint8_t code, std::uint64_t to_ns) {
  constexpr std::uint8_t kStateBits = 7;
  const std::uint64_t end = ticks_of(to_ns - lanes_.start_ns, lanes_.tick_ns);
  column_of(lanes_, LaneColumn::kCodes).write(code);
  put_length(static_cast<WaitState>(code & kStateBits), end - std::min(end, state_.end_tick));
  state_.end_tick = std::max(end, state_.end_tick);
  state_.end_ns = to_ns;
  ++lanes_.lanes.back().intervals;
}

void LaneReading::begin_lane(const WaitInterval& row) {
  lane_of_thread_.try_emplace({row.pid, row.tid}, static_cast<std::uint32_t>(lanes_.lanes.size()));
  PageLane& lane = lanes_.lanes.emplace_back();
  lane.pid = row.pid;
  lane.tid = row.tid;
  lane.waits_for_work = pools_.has(row.pid, row.tid);
  state_ = {lanes_.start_ns, 0, 0, 0};
}

void LaneReading::encode(const WaitInterval& row, std::uint32_t context) {
  if (lanes_.lanes.empty() || lanes_.lanes.back().pid != row.pid ||
      lanes_.lanes.back().tid != row.tid) {
    begin_lane(row);
  }
  if (row.from_ns > state_.end_ns) {
    put_interval(kGap, row.from_ns);
  }
  // A page shows nothing of a thread that has ended.
  const WaitState shown = row.state == WaitState::kExited ? WaitState::kUnknown : row.state;
  put_interval(
      static_cast<std::uint8_t>(static_cast<unsigned>(shown) | unsigned{row.flags} << kFlagShift),
      row.to_ns);
  if (row.state == WaitState::kRunning) {
    return;
  }
  const auto put = [](std::uint64_t key, std::uint64_t& before, RankedKeys& ranks,
                      bytes::ByteWriter& column) {
    column.write_varint(key == 0        ? 0
                        : key == before ? kSameAsBefore
                                        : kFirstRank + ranks.rank_of(key));
    before = key == 0 ? before : key;
  };
  const std::uint64_t spot = spot_of(row, context);
  put(spot, state_.spot, spots_, column_of(lanes_, LaneColumn::kSpots));
  put(waker_of(row), state_.waker, wakers_, column_of(lanes_, LaneColumn::kWakers));
  for (std::size_t i = 0; i < kWaitMeasures.size(); ++i) {
    if (kWaitMeasures[i].first == row.state && !lanes_.lanes.back().waits_for_work) {
      std::uint64_t& sum = sums_[i][low_of(spot)];
      core::add_saturating(sum, row.to_ns - row.from_ns);
    }
  }
}

void LaneReading::finish_tables(const PageTree& tree, PageContent& content) {
  constexpr unsigned kMostOpen = 7;
  put_bits(0, open_count_ == 0 ? 0 : kMostOpen);
  for (const std::uint32_t node : resolved_) {
    lanes_.nodes.push_back(tree.node_of(node));
  }
  for (const std::uint64_t key : spots_.keys()) {
    lanes_.spots.push_back({high_of(key), low_of(key)});
  }
  for (const std::uint64_t key : wakers_.keys()) {
    LaneWaker waker{high_of(key), 0, 0, low_of(key)};
    if (waker.kind >= kFirstThread) {
      const std::uint64_t who = who_[waker.kind - static_cast<std::uint32_t>(kFirstThread)];
      waker.kind = static_cast<std::uint32_t>(WakerKind::kThread);
      waker.tid = low_of(who);
      const auto lane = lane_of_thread_.find({high_of(who), low_of(who)});
      waker.lane = lane == lane_of_thread_.end() ? 0 : lane->second + 1;
    }
    lanes_.wakers.push_back(waker);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> rows;
  for (std::uint32_t row = 0; row < content.threads.size(); ++row) {
    rows.try_emplace({content.threads[row].pid, content.threads[row].tid}, row);
  }
  const query::CaptureView& view = job_.view();
  const capture::ProcessLives lives(view.processes);
  for (PageLane& lane : lanes_.lanes) {
    const auto known = rows.find({lane.pid, lane.tid});
    lane.row = known == rows.end() ? kUnknownId : known->second;
    const std::uint32_t process = lives.find(lane.pid, last_ns_).row;
    lane.process = process == capture::kNoRow ? std::string() : view.processes[process].name;
    const std::uint32_t thread = threads_.find(lane.pid, lane.tid, last_ns_);
    lane.thread = thread == query::WakerThreads::kNone ? lane.process : threads_[thread].name;
  }
}

// Exact sums of the page's tree, as `--event blocked` has them.
void LaneReading::add_measures(const PageTree& tree, PageContent& content) {
  const auto is_taken = [this](std::string_view name) {
    const auto& events = job_.view().events;
    const auto& excluded = job_.options.filter.excluded_events;
    return std::any_of(events.begin(), events.end(),
                       [name](const Event& event) { return event.name == name; }) ||
           std::find(excluded.begin(), excluded.end(), name) != excluded.end();
  };
  content.self.resize(1);
  for (std::size_t i = 0; i < kWaitMeasures.size(); ++i) {
    std::map<std::uint32_t, std::uint64_t> by_node;
    for (std::size_t stack = 0; stack < sums_[i].size(); ++stack) {
      if (sums_[i][stack] != 0) {
        std::uint64_t& sum = by_node[stack == 0 ? 0 : tree.node_of(resolved_[stack - 1])];
        core::add_saturating(sum, sums_[i][stack]);
      }
    }
    if (by_node.empty() || is_taken(kWaitMeasures[i].second)) {
      continue;
    }
    lanes_.measures[i] = static_cast<std::uint32_t>(content.measures.size());
    content.measures.push_back({std::string(kWaitMeasures[i].second), "ns"});
    std::vector<NodeValue>& values = content.self.front().emplace_back();
    for (const auto& [node, sum] : by_node) {
      values.push_back({node, sum});
    }
  }
}

Status LaneReading::add_to(const PageTree& tree, PageContent& content) {
  if (rows_ == 0) {
    return {};
  }
  if (rows_ > kMostLaneIntervals) {
    content.facts.push_back(
        {"Lanes", fmt::format("none: {} intervals are more than a page holds; --from and --to "
                              "choose a part",
                              rows_)});
    return {};
  }
  const SampleFilter& filter = job_.options.filter;
  if (filter.idle == IdleSamples::kKeep || chooses_threads(filter)) {
    pools_ = query::IdlePools({});
  }
  lanes_.start_ns = first_ns_;
  lanes_.tick_ns = ticks_.choose(last_ns_ - first_ns_);
  lanes_.ticks = ticks_of(last_ns_ - first_ns_, lanes_.tick_ns);
  spots_.rank();
  wakers_.rank();
  for (std::vector<std::uint64_t>& sums : sums_) {
    sums.resize(stacks_.size() + 1);
  }
  const Status read =
      each_row([](const WaitInterval&) {},
               [this](const WaitInterval& row, std::uint32_t context) { encode(row, context); });
  if (!read) {
    return read;
  }
  finish_tables(tree, content);
  if (has_measures(content)) {
    add_measures(tree, content);
  }
  content.lanes = std::move(lanes_);
  return {};
}

}  // namespace stackpack::exporting
