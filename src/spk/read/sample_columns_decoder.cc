#include "spk/read/sample_columns_decoder.h"

#include <algorithm>
#include <numeric>

#include "bytes/byte_writer.h"
#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/format/stored_column.h"

namespace stackpack::spk {

namespace {

constexpr std::uint32_t kThreadColumns = kPidColumn | kTidColumn;
constexpr std::uint32_t kStackColumns = kStackColumn | kStackEntryColumn;

std::uint64_t sum_with_zigzag(std::uint64_t value, std::uint64_t code) {
  return value + static_cast<std::uint64_t>(bytes::zigzag_decode(code));
}

// Rows of a column: `at` says where each is, null: in this order.
template <typename From, typename To>
void copy_rows(const From* from, const std::uint32_t* at, std::size_t rows, To* to) {
  if (at == nullptr) {
    for (std::size_t i = 0; i < rows; ++i) {
      to[i] = static_cast<To>(from[i]);
    }
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    to[i] = static_cast<To>(from[at[i]]);
  }
}

// The same of a column of numbers, for which `of` has the values.
void copy_through(const std::uint32_t* from, const std::uint32_t* at, std::size_t rows,
                  const std::uint32_t* of, std::uint32_t* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    to[i] = of[from[at == nullptr ? i : at[i]]];
  }
}

}  // namespace

Status SampleColumnsDecoder::decode(bytes::ByteCursor in, const SampleHead& head,
                                    const SampleBounds& bounds, std::uint32_t columns,
                                    bool ordered) {
  count_ = head.samples;
  constant_ = 0;
  const bool stacks = (columns & kStackColumns) != 0;
  const bool threads = stacks || (columns & kThreadColumns) != 0;
  const bool order = ordered || stacks;
  pids_.clear();
  tids_.clear();
  for (const ThreadKey& thread : head.threads) {
    pids_.push_back(thread.first);
    tids_.push_back(thread.second);
  }
  if (!decode_groups(in) || !decode_times(in, order || (columns & kTimeColumn) != 0) ||
      !decode_order(in, order) || !decode_threads(in, pids_.size(), threads) ||
      !decode_events(in, bounds.events, columns) || !decode_origins(in, columns) ||
      !decode_stacks(in, bounds.stacks, pids_.size(), stacks) || in.remaining() != 0) {
    return in.corrupt("spk: samples: body");
  }
  stored_order_ = !ordered || cpus_.size() == 1;
  whole_ = stacks;
  selected_.clear();
  rows_ = count_;
  return {};
}

bool SampleColumnsDecoder::decode_groups(bytes::ByteCursor& in) {
  const std::uint64_t groups = read_varint(in);
  if (!in.ok() || groups == 0 || groups > count_) {
    return false;
  }
  read_column(in, static_cast<std::size_t>(groups), cpus_);
  read_column(in, static_cast<std::size_t>(groups), numbers_);
  if (!in.ok() || cpus_.back() > kMax32 ||
      std::adjacent_find(cpus_.begin(), cpus_.end(), std::greater_equal<>()) != cpus_.end()) {
    return false;
  }
  group_begin_.assign(1, 0);
  cpu_of_.resize(count_);
  for (std::size_t group = 0; group < cpus_.size(); ++group) {
    const std::uint64_t size = numbers_[group];
    if (size == 0 || size > count_ - group_begin_.back()) {
      return false;
    }
    std::fill_n(cpu_of_.begin() + static_cast<std::ptrdiff_t>(group_begin_.back()), size,
                static_cast<std::uint32_t>(cpus_[group]));
    group_begin_.push_back(group_begin_.back() + static_cast<std::size_t>(size));
  }
  constant_ |= cpus_.size() == 1 ? kCpuColumn : 0U;
  return group_begin_.back() == count_;
}

bool SampleColumnsDecoder::decode_times(bytes::ByteCursor& in, bool wanted) {
  const std::uint64_t base = read_varint(in);
  const std::uint64_t unit = read_varint(in);
  const unsigned form = in.read<std::uint8_t>();
  const std::uint64_t nominal = form == 1 ? read_varint(in) : 0;
  const StoredColumn column(in, count_);
  if (!in.ok() || unit == 0 || form > 1) {
    return false;
  }
  if (!wanted) {
    return true;
  }
  if (!column.unpack(~std::uint64_t{0}, times_)) {
    return false;
  }
  // Modulo 2^64, as the writer: any bytes give some time, and the index says which are possible.
  bool descends = false;
  for (std::size_t group = 0; group + 1 < group_begin_.size(); ++group) {
    std::uint64_t* const end = times_.data() + group_begin_[group + 1];
    std::uint64_t time = base;
    for (std::uint64_t* at = times_.data() + group_begin_[group]; at != end; ++at) {
      const std::uint64_t before = time;
      time += unit * (form == 1 ? sum_with_zigzag(nominal, *at) : *at);
      descends |= time < before;
      *at = time;
    }
  }
  grouped_ = {times_, group_begin_};
  grouped_.ascending = !descends;
  find_time_range();
  return true;
}

void SampleColumnsDecoder::find_time_range() {
  if (!grouped_.ascending) {
    const auto [first, last] = std::minmax_element(times_.begin(), times_.end());
    grouped_.first = *first;
    grouped_.last = *last;
    return;
  }
  grouped_.first = times_.front();
  grouped_.last = times_.front();
  for (std::size_t group = 0; group + 1 < group_begin_.size(); ++group) {
    grouped_.first = std::min(grouped_.first, times_[group_begin_[group]]);
    grouped_.last = std::max(grouped_.last, times_[group_begin_[group + 1] - 1]);
  }
}

bool SampleColumnsDecoder::decode_order(bytes::ByteCursor& in, bool wanted) {
  const StoredColumn column(in, count_);
  if (!in.ok()) {
    return false;
  }
  if (!wanted) {
    return true;
  }
  codes_.clear();
  const bool corrected = !column.is_constant() || column.constant() != 0;
  if (corrected && !column.unpack(cpus_.size() - 1, codes_)) {
    return false;
  }
  return time_order_.find(grouped_, codes_, stored_);
}

bool SampleColumnsDecoder::decode_threads(bytes::ByteCursor& in, std::size_t thread_count,
                                          bool wanted) {
  const StoredColumn column(in, count_);
  if (!in.ok()) {
    return false;
  }
  if (!wanted) {
    return true;
  }
  if (!column.unpack(thread_count, thread_of_)) {
    return false;
  }
  thread_begin_.assign(thread_count + 1, 0);
  for (std::size_t group = 0; group + 1 < group_begin_.size(); ++group) {
    std::uint32_t* at = thread_of_.data() + group_begin_[group];
    std::uint32_t* const end = thread_of_.data() + group_begin_[group + 1];
    if (*at == 0) {
      return false;
    }
    // Few samples are of another thread than the one before.
    while (at != end) {
      std::uint32_t* const begin = at;
      const std::uint32_t thread = *at - 1;
      do {
        *at++ = thread;
      } while (at != end && *at == 0);
      thread_begin_[thread + 1] += static_cast<std::size_t>(at - begin);
    }
  }
  return true;
}

bool SampleColumnsDecoder::decode_events(bytes::ByteCursor& in, std::uint64_t event_count,
                                         std::uint32_t columns) {
  const StoredColumn events(in, count_);
  const StoredColumn weights(in, count_);
  if (!in.ok() || event_count == 0) {
    return false;
  }
  if ((columns & (kEventColumn | kWeightColumn)) != 0 &&
      !events.unpack(std::min<std::uint64_t>(event_count - 1, kMax32), events_)) {
    return false;
  }
  constant_ |= events.is_constant() ? kEventColumn : 0U;
  if ((columns & kWeightColumn) == 0) {
    return true;
  }
  if (!weights.unpack(~std::uint64_t{0}, weights_)) {
    return false;
  }
  std::vector<std::uint64_t> latest(static_cast<std::size_t>(event_count), 0);
  std::uint64_t* const of_event = latest.data();
  const std::uint32_t* const event = events_.data();
  std::uint64_t* const weight = weights_.data();
  if (events.is_constant()) {
    std::uint64_t value = 0;
    for (std::size_t at = 0; at < count_; ++at) {
      value = sum_with_zigzag(value, weight[at]);
      weight[at] = value;
    }
    return true;
  }
  for (std::size_t at = 0; at < count_; ++at) {
    std::uint64_t& value = of_event[event[at]];
    value = sum_with_zigzag(value, weight[at]);
    weight[at] = value;
  }
  return true;
}

bool SampleColumnsDecoder::decode_origins(bytes::ByteCursor& in, std::uint32_t columns) {
  const StoredColumn origins(in, count_);
  const StoredColumn flags(in, count_);
  if (!in.ok()) {
    return false;
  }
  if ((columns & (kOriginColumn | kFlagsColumn)) == 0) {
    return true;
  }
  if (!origins.unpack(static_cast<std::uint64_t>(StackOrigin::kRecorded), origins_) ||
      !flags.unpack(0xFF, flags_)) {
    return false;
  }
  // Whether a callstack was unwound is in both.
  constant_ |= origins.is_constant() && flags.is_constant() ? kOriginColumn | kFlagsColumn : 0U;
  // A recorded callstack with the flag was unwound; another must not have it.
  static_assert(static_cast<unsigned>(StackOrigin::kRecorded) == 2);
  static_assert(static_cast<unsigned>(StackOrigin::kUnwound) == 3);
  std::uint8_t* const origin = origins_.data();
  std::uint8_t* const flag = flags_.data();
  unsigned wrong = 0;
  for (std::size_t at = 0; at < count_; ++at) {
    const unsigned unwound = (flag[at] & kUnwoundFlag) != 0 ? 1 : 0;
    wrong |= unwound & (origin[at] == 2 ? 0U : 1U);
    origin[at] = static_cast<std::uint8_t>(origin[at] + unwound);
    flag[at] = static_cast<std::uint8_t>(flag[at] & ~kUnwoundFlag);
  }
  return wrong == 0;
}

// Samples thread by thread, each in the order of the capture.
void SampleColumnsDecoder::sort_by_thread(std::size_t thread_count) {
  std::partial_sum(thread_begin_.begin(), thread_begin_.end(), thread_begin_.begin());
  by_thread_.resize(count_);
  std::uint32_t* const sorted = by_thread_.data();
  if (thread_count == 1) {
    std::copy(stored_.begin(), stored_.end(), by_thread_.begin());
    return;
  }
  std::vector<std::size_t> next_of(thread_begin_);
  std::size_t* const next = next_of.data();
  const std::uint32_t* const thread = thread_of_.data();
  for (const std::uint32_t at : stored_) {
    sorted[next[thread[at]]++] = at;
  }
}

bool SampleColumnsDecoder::decode_stacks(bytes::ByteCursor& in, std::uint64_t stack_count,
                                         std::size_t thread_count, bool wanted) {
  const StoredColumn codes(in, count_);
  // How many differences there are is in the codes.
  if (!in.ok() || !codes.unpack(kFirstGuessCode + kStackGuesses - 1, stack_code_)) {
    return false;
  }
  const auto count = static_cast<std::size_t>(
      std::count(stack_code_.begin(), stack_code_.end(), std::uint8_t{kDifferenceCode}));
  const StoredColumn differences(in, count);
  if (!in.ok()) {
    return false;
  }
  if (!wanted) {
    return true;
  }
  if (!differences.unpack(~std::uint64_t{0}, numbers_)) {
    return false;
  }
  sort_by_thread(thread_count);
  entries_.assign(count_, 0);
  entry_pids_.assign(1, 0);
  stack_codes_.begin(stack_code_, numbers_, stack_count);
  const std::span<const std::uint32_t> positions(by_thread_);
  for (std::size_t thread = 0; thread < thread_count; ++thread) {
    const std::size_t begin = thread_begin_[thread];
    const std::size_t end = thread_begin_[thread + 1];
    if (begin != end &&
        !stack_codes_.decode_thread(positions.subspan(begin, end - begin), entries_.data())) {
      return false;
    }
    entry_pids_.resize(stack_codes_.stacks().size(), pids_[thread]);
  }
  return true;
}

void SampleColumnsDecoder::select(const SampleQuery& query) {
  const bool by_thread = query.pid.has_value() || query.tid.has_value();
  std::vector<char> wanted;  // by thread
  for (std::size_t thread = 0; by_thread && thread < pids_.size(); ++thread) {
    wanted.push_back(query.pid.value_or(pids_[thread]) == pids_[thread] &&
                             query.tid.value_or(tids_[thread]) == tids_[thread]
                         ? 1
                         : 0);
  }
  selected_.clear();
  for (std::size_t row = 0; row < count_; ++row) {
    const std::uint32_t at = stored_order_ ? static_cast<std::uint32_t>(row) : stored_[row];
    if (times_[at] >= query.from_ns && times_[at] <= query.to_ns &&
        (!by_thread || wanted[thread_of_[at]] != 0)) {
      selected_.push_back(at);
    }
  }
  rows_ = selected_.size();
  stored_order_ = false;
  whole_ = false;
  stored_.swap(selected_);
}

StackEntries SampleColumnsDecoder::stack_entries() const {
  StackEntries entries;
  entries.first_ns = grouped_.first;
  entries.last_ns = grouped_.last;
  entries.pid = entry_pids_;
  entries.stack = stack_codes_.stacks();
  return entries;
}

// Whether the order of the capture is that of times.
bool SampleColumnsDecoder::is_by_time() const {
  return grouped_.ascending &&
         (codes_.empty() ||
          std::is_sorted(stored_.begin(), stored_.end(), [this](std::uint32_t a, std::uint32_t b) {
            return times_[a] < times_[b];
          }));
}

bool SampleColumnsDecoder::sum(std::uint32_t columns, EntrySums& sums) {
  const bool has_events = (columns & kEventColumn) != 0;
  if (!whole_ || (has_events && (constant_ & kEventColumn) == 0) || !is_by_time()) {
    return false;
  }
  sums.first_ns = grouped_.first;
  sums.last_ns = grouped_.last;
  sums.event = has_events ? events_.front() : 0;
  EntryColumns of;
  of.order = stored_;
  of.by_thread = by_thread_;
  of.entries = entries_;
  of.times = times_;
  of.threads = thread_of_;
  of.stacks = stack_codes_.stacks();
  of.pids = pids_;
  of.tids = tids_;
  if ((columns & kWeightColumn) != 0) {
    of.weights = weights_;
  }
  if ((columns & kFlagsColumn) != 0) {
    of.flags = flags_;
  }
  return entry_summer_.sum(of, sums);
}

void SampleColumnsDecoder::copy(std::span<StoredSample> samples) const {
  const StackId* const stacks = stack_codes_.stacks().data();
  std::size_t row = 0;
  for (StoredSample& sample : samples) {
    const std::size_t at = stored_order_ ? row : stored_[row];
    const std::uint32_t thread = thread_of_[at];
    sample.time_ns = times_[at];
    sample.pid = pids_[thread];
    sample.tid = tids_[thread];
    sample.cpu = cpu_of_[at];
    sample.event = events_[at];
    sample.weight = weights_[at];
    sample.origin = static_cast<StackOrigin>(origins_[at]);
    sample.flags = flags_[at];
    sample.stack = stacks[entries_[at]];
    ++row;
  }
}

void SampleColumnsDecoder::copy(std::size_t begin, std::size_t rows, std::uint32_t columns,
                                const SampleArrays& to) const {
  const std::uint32_t* const at = stored_order_ ? nullptr : stored_.data() + begin;
  const std::size_t first = stored_order_ ? begin : 0;
  const auto copy_column = [&](std::uint32_t column, const auto& from, auto* values) {
    if ((columns & column) == 0 || values == nullptr) {
      return;
    }
    if ((constant_ & column) != 0) {
      copy_rows(from.data(), nullptr, rows, values);
    } else {
      copy_rows(from.data() + first, at, rows, values);
    }
  };
  copy_column(kTimeColumn, times_, to.time_ns);
  copy_column(kCpuColumn, cpu_of_, to.cpu);
  copy_column(kEventColumn, events_, to.event);
  copy_column(kWeightColumn, weights_, to.weight);
  copy_column(kOriginColumn, origins_, to.origin);
  copy_column(kFlagsColumn, flags_, to.flags);
  copy_column(kStackEntryColumn, entries_, to.entry);
  const auto copy_by = [&](std::uint32_t column, const auto& numbers,
                           std::span<const std::uint32_t> of, std::uint32_t* values) {
    if ((columns & column) != 0 && values != nullptr) {
      copy_through(numbers.data() + first, at, rows, of.data(), values);
    }
  };
  copy_by(kPidColumn, thread_of_, pids_, to.pid);
  copy_by(kTidColumn, thread_of_, tids_, to.tid);
  copy_by(kStackColumn, entries_, stack_codes_.stacks(), to.stack);
}

}  // namespace stackpack::spk
