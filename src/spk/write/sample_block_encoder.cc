#include "spk/write/sample_block_encoder.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bytes/byte_writer.h"
#include "spk/format/sample_block.h"

namespace stackpack::spk {

namespace {

std::uint64_t zigzag_difference(std::uint64_t value, std::uint64_t before) {
  return bytes::zigzag_encode(static_cast<std::int64_t>(value - before));
}

constexpr std::uint64_t thread_number(std::uint32_t pid, std::uint32_t tid) {
  return std::uint64_t{pid} << 32 | tid;
}

// The greatest number that divides all values; 1 when all are 0.
std::uint64_t common_divisor(std::span<const std::uint64_t> values) {
  std::uint64_t divisor = 0;
  for (const std::uint64_t value : values) {
    divisor = std::gcd(divisor, value);
    if (divisor == 1) {
      break;
    }
  }
  return std::max<std::uint64_t>(divisor, 1);
}

// The value that stands in the middle when all are sorted. `scratch` is overwritten. Counting first
// leaves the search few values to look among.
std::uint64_t middle_of(std::span<const std::uint64_t> values,
                        std::vector<std::uint64_t>& scratch) {
  constexpr unsigned kBits = 10;
  std::uint64_t any = 0;
  for (const std::uint64_t value : values) {
    any |= value;
  }
  const auto width = static_cast<unsigned>(std::bit_width(any));
  const unsigned shift = width > kBits ? width - kBits : 0;
  std::vector<std::uint32_t> counts(std::size_t{1} << kBits);
  for (const std::uint64_t value : values) {
    ++counts[value >> shift];
  }
  std::size_t rank = values.size() / 2;
  std::size_t bucket = 0;
  while (rank >= counts[bucket]) {
    rank -= counts[bucket++];
  }
  scratch.clear();
  for (const std::uint64_t value : values) {
    if (value >> shift == bucket) {
      scratch.push_back(value);
    }
  }
  const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(scratch.begin(), middle, scratch.end());
  return *middle;
}

// Where the items of each of `classes` classes begin when they are sorted by class.
void count_classes(std::span<const std::uint32_t> class_of, std::size_t classes,
                   std::vector<std::size_t>& begin) {
  begin.assign(classes + 1, 0);
  std::size_t* const counts = begin.data() + 1;
  for (const std::uint32_t item_class : class_of) {
    ++counts[item_class];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

// The items sorted by class, those of a class in their order.
void sort_by_class(std::span<const std::uint32_t> class_of, const std::vector<std::size_t>& begin,
                   std::vector<std::uint32_t>& sorted) {
  std::vector<std::size_t> next = begin;
  sorted.resize(class_of.size());
  std::size_t* const at = next.data();
  std::uint32_t* const out = sorted.data();
  for (std::uint32_t item = 0; item < class_of.size(); ++item) {
    out[at[class_of[item]]++] = item;
  }
}

}  // namespace

void SampleBlockEncoder::encode(std::span<const StoredSample> samples, BlockContent& head,
                                BlockContent& body) {
  split_columns(samples);
  group_samples(samples);
  encode_head(samples.size(), head);
  encode_groups(body);
  encode_times(body);
  encode_order(body);
  encode_threads(body);
  encode_plain(event_ids_, body);
  encode_weights(body);
  encode_plain(origins_, body);
  encode_plain(flags_, body);
  encode_stacks(body);
}

void SampleBlockEncoder::split_columns(std::span<const StoredSample> samples) {
  times_.resize(samples.size());
  weights_.resize(samples.size());
  stacks_.resize(samples.size());
  event_ids_.resize(samples.size());
  origins_.resize(samples.size());
  flags_.resize(samples.size());
  std::size_t at = 0;
  for (const StoredSample& sample : samples) {
    times_[at] = sample.time_ns;
    weights_[at] = sample.weight;
    stacks_[at] = sample.stack;
    event_ids_[at] = sample.event;
    const bool unwound = sample.origin == StackOrigin::kUnwound;
    const StackOrigin origin = unwound ? StackOrigin::kRecorded : sample.origin;
    origins_[at] = static_cast<std::uint8_t>(origin);
    flags_[at] = static_cast<std::uint8_t>(sample.flags | (unwound ? kUnwoundFlag : 0U));
    ++at;
  }
}

// Threads, groups and the stored order.
void SampleBlockEncoder::group_samples(std::span<const StoredSample> samples) {
  const StoredSample* const all = samples.data();
  threads_.rank(
      samples.size(), [all](std::size_t i) { return thread_number(all[i].pid, all[i].tid); },
      thread_of_);
  cpus_.rank(
      samples.size(), [all](std::size_t i) { return all[i].cpu; }, group_of_);
  count_classes(group_of_, cpus_.values().size(), group_begin_);
  sort_by_class(group_of_, group_begin_, stored_);
  count_classes(thread_of_, threads_.values().size(), thread_begin_);
  sort_by_class(thread_of_, thread_begin_, by_thread_);
}

void SampleBlockEncoder::encode_head(std::size_t samples, BlockContent& head) const {
  head.bytes().write_varint(samples);
  head.bytes().write_varint(threads_.values().size());
  std::vector<std::uint64_t> pids;
  std::vector<std::uint64_t> tids;
  std::uint64_t before = 0;
  for (const std::uint64_t thread : threads_.values()) {
    pids.push_back((thread >> 32) - before);
    tids.push_back(thread & 0xFFFF'FFFF);
    before = thread >> 32;
  }
  write_column(pids, head);
  write_column(tids, head);
}

void SampleBlockEncoder::encode_groups(BlockContent& body) const {
  body.bytes().write_varint(cpus_.values().size());
  write_column(cpus_.values(), body);
  std::vector<std::uint64_t> sizes;
  for (std::size_t group = 0; group < cpus_.values().size(); ++group) {
    sizes.push_back(group_begin_[group + 1] - group_begin_[group]);
  }
  write_column(sizes, body);
}

// Differences modulo 2^64 in stored order, into column_.
void SampleBlockEncoder::collect_time_differences(std::uint64_t base) {
  column_.clear();
  for (std::size_t group = 0; group < cpus_.values().size(); ++group) {
    std::uint64_t before = base;
    for (std::size_t at = group_begin_[group]; at < group_begin_[group + 1]; ++at) {
      const std::uint64_t time = times_[stored_[at]];
      column_.push_back(time - before);
      before = time;
    }
  }
}

void SampleBlockEncoder::encode_times(BlockContent& body) {
  const std::uint64_t base = *std::min_element(times_.begin(), times_.end());
  collect_time_differences(base);
  // A difference is negative when times go back within a group: as a number it is above any that
  // could be added to the base.
  const bool ascending = std::all_of(column_.begin(), column_.end(),
                                     [base](std::uint64_t value) { return value <= ~base; });
  std::uint64_t unit = 1;
  std::uint64_t nominal = 0;
  if (ascending) {
    unit = common_divisor(column_);
    if (unit != 1) {
      for (std::uint64_t& difference : column_) {
        difference /= unit;
      }
    }
    nominal = middle_of(column_, numbers_);
  }
  numbers_.clear();
  for (const std::uint64_t difference : column_) {
    numbers_.push_back(zigzag_difference(difference, nominal));
  }
  const NumberForm plain_form = choose_form(column_);
  const NumberForm centered_form = choose_form(numbers_);
  const bool centered = !ascending || centered_form.bits < plain_form.bits;
  body.bytes().write_varint(base);
  body.bytes().write_varint(unit);
  body.bytes().write(static_cast<std::uint8_t>(centered ? 1 : 0));
  if (centered) {
    body.bytes().write_varint(nominal);
  }
  write_numbers(centered ? numbers_ : column_, centered ? centered_form : plain_form, body);
}

void SampleBlockEncoder::encode_order(BlockContent& body) {
  if (std::is_sorted(times_.begin(), times_.end())) {
    order_of_ascending();
  } else {
    order_of_any();
  }
  write_column(column_, body);
}

// Where times ascend, the groups with the earliest sample left are those of the samples from here
// on that have the same time.
void SampleBlockEncoder::order_of_ascending() {
  column_.resize(times_.size());
  const std::size_t groups = cpus_.values().size();
  std::size_t lowest = 0;
  for (std::size_t i = times_.size(); i-- > 0;) {
    const std::size_t group = group_of_[i];
    const bool alone = i + 1 == times_.size() || times_[i + 1] != times_[i];
    lowest = alone ? group : std::min(lowest, group);
    column_[i] = (group + groups - lowest) % groups;
  }
}

void SampleBlockEncoder::order_of_any() {
  column_.clear();
  const std::size_t groups = cpus_.values().size();
  if (groups == 0) {
    return;  // no samples
  }
  EarliestQueue queue(groups);
  std::vector<std::size_t> next = group_begin_;
  const auto show_front = [&](std::size_t group) {
    if (next[group] == group_begin_[group + 1]) {
      queue.set_empty(group);
    } else {
      queue.set(group, times_[stored_[next[group]]]);
    }
  };
  for (std::size_t group = 0; group < groups; ++group) {
    show_front(group);
  }
  for (const std::uint32_t group : group_of_) {
    column_.push_back((group + groups - queue.earliest()) % groups);
    ++next[group];
    show_front(group);
  }
}

void SampleBlockEncoder::encode_threads(BlockContent& body) {
  column_.clear();
  for (std::size_t group = 0; group < cpus_.values().size(); ++group) {
    std::size_t before = threads_.values().size();
    for (std::size_t at = group_begin_[group]; at < group_begin_[group + 1]; ++at) {
      const std::size_t thread = thread_of_[stored_[at]];
      column_.push_back(thread == before ? 0 : 1 + thread);
      before = thread;
    }
  }
  write_column(column_, body);
}

void SampleBlockEncoder::encode_weights(BlockContent& body) {
  const std::uint32_t* const all = event_ids_.data();
  events_.rank(
      event_ids_.size(), [all](std::size_t i) { return all[i]; }, event_of_);
  std::vector<std::uint64_t> before(events_.values().size(), 0);
  column_.clear();
  for (const std::uint32_t at : stored_) {
    std::uint64_t& latest = before[event_of_[at]];
    column_.push_back(zigzag_difference(weights_[at], latest));
    latest = weights_[at];
  }
  write_numbers(column_, body);
}

template <typename Value>
void SampleBlockEncoder::encode_plain(const std::vector<Value>& values, BlockContent& body) {
  column_.resize(values.size());
  std::transform(stored_.begin(), stored_.end(), column_.begin(),
                 [all = values.data()](std::uint32_t at) { return all[at]; });
  write_column(column_, body);
}

void SampleBlockEncoder::encode_stacks(BlockContent& body) {
  column_.clear();
  numbers_.clear();
  for (std::size_t thread = 0; thread < threads_.values().size(); ++thread) {
    predictor_.begin_thread(thread_begin_[thread + 1] - thread_begin_[thread]);
    for (std::size_t at = thread_begin_[thread]; at < thread_begin_[thread + 1]; ++at) {
      const StackId stack = stacks_[by_thread_[at]];
      if (stack == kNoStack) {
        column_.push_back(kNoStackCode);
        continue;
      }
      const unsigned guess = predictor_.find(stack);
      if (guess < kStackGuesses) {
        column_.push_back(kFirstGuessCode + guess);
      } else {
        const StackId latest = predictor_.latest();
        column_.push_back(kDifferenceCode);
        numbers_.push_back(zigzag_difference(stack, latest == kNoStack ? 0 : latest));
      }
      predictor_.update(stack, guess);
    }
  }
  write_column(column_, body);
  write_numbers(numbers_, body);
}

}  // namespace stackpack::spk
