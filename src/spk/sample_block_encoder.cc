#include <algorithm>
#include <numeric>

#include "io/byte_writer.h"
#include "spk/sample_block.h"
#include "spk/sample_order.h"

namespace stackpack::spk {

namespace {

std::uint64_t zigzag_difference(std::uint64_t value, std::uint64_t before) {
  return io::zigzag_encode(static_cast<std::int64_t>(value - before));
}

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <typename T>
std::uint32_t index_in(const std::vector<T>& sorted, const T& value) {
  return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                    sorted.begin());
}

}  // namespace

void SampleBlockEncoder::encode(std::span<const StoredSample> samples, BlockContent& head,
                                BlockContent& body) {
  sort_out(samples);
  encode_head(samples.size(), head);
  encode_groups(body);
  encode_times(samples, body);
  encode_order(samples, body);
  encode_threads(body);
  encode_plain(
      samples, [](const StoredSample& s) { return s.event; }, body);
  encode_weights(samples, body);
  encode_plain(
      samples, [](const StoredSample& s) { return static_cast<unsigned>(s.origin); }, body);
  encode_plain(
      samples, [](const StoredSample& s) { return s.flags; }, body);
  encode_stacks(samples, body);
}

// Threads, groups and the stored order.
void SampleBlockEncoder::sort_out(std::span<const StoredSample> samples) {
  threads_.clear();
  cpus_.clear();
  for (const StoredSample& sample : samples) {
    threads_.emplace_back(sample.pid, sample.tid);
    cpus_.push_back(sample.cpu);
  }
  sort_unique(threads_);
  sort_unique(cpus_);
  thread_of_.resize(samples.size());
  group_of_.resize(samples.size());
  group_begin_.assign(cpus_.size() + 1, 0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    thread_of_[i] = index_in(threads_, ThreadKey{samples[i].pid, samples[i].tid});
    group_of_[i] = index_in(cpus_, samples[i].cpu);
    ++group_begin_[group_of_[i] + 1];
  }
  std::partial_sum(group_begin_.begin(), group_begin_.end(), group_begin_.begin());
  stored_.resize(samples.size());
  std::vector<std::size_t> next = group_begin_;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    stored_[next[group_of_[i]]++] = static_cast<std::uint32_t>(i);
  }
}

void SampleBlockEncoder::encode_head(std::size_t samples, BlockContent& head) const {
  head.bytes().write_varint(samples);
  head.bytes().write_varint(threads_.size());
  std::vector<std::uint64_t> pids;
  std::vector<std::uint64_t> tids;
  std::uint32_t before = 0;
  for (const ThreadKey& thread : threads_) {
    pids.push_back(thread.first - before);
    tids.push_back(thread.second);
    before = thread.first;
  }
  write_column(pids, head);
  write_column(tids, head);
}

void SampleBlockEncoder::encode_groups(BlockContent& body) const {
  body.bytes().write_varint(cpus_.size());
  write_column(std::vector<std::uint64_t>(cpus_.begin(), cpus_.end()), body);
  std::vector<std::uint64_t> sizes;
  for (std::size_t group = 0; group < cpus_.size(); ++group) {
    sizes.push_back(group_begin_[group + 1] - group_begin_[group]);
  }
  write_column(sizes, body);
}

// Differences modulo 2^64 in stored order, into column_.
void SampleBlockEncoder::take_time_differences(std::span<const StoredSample> samples,
                                               std::uint64_t base) {
  column_.clear();
  for (std::size_t group = 0; group < cpus_.size(); ++group) {
    std::uint64_t before = base;
    for (std::size_t at = group_begin_[group]; at < group_begin_[group + 1]; ++at) {
      const std::uint64_t time = samples[stored_[at]].time_ns;
      column_.push_back(time - before);
      before = time;
    }
  }
}

void SampleBlockEncoder::encode_times(std::span<const StoredSample> samples, BlockContent& body) {
  const std::uint64_t base =
      std::min_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
        return a.time_ns < b.time_ns;
      })->time_ns;
  take_time_differences(samples, base);
  // A difference is negative when times go back within a group: as a number it is above any that
  // could be added to the base.
  const bool ascending = std::all_of(column_.begin(), column_.end(),
                                     [base](std::uint64_t value) { return value <= ~base; });
  std::uint64_t unit = 1;
  std::uint64_t nominal = 0;
  if (ascending) {
    unit = 0;
    for (const std::uint64_t difference : column_) {
      unit = std::gcd(unit, difference);
    }
    unit = std::max<std::uint64_t>(unit, 1);
    for (std::uint64_t& difference : column_) {
      difference /= unit;
    }
    numbers_ = column_;
    const auto middle = numbers_.begin() + static_cast<std::ptrdiff_t>(numbers_.size() / 2);
    std::nth_element(numbers_.begin(), middle, numbers_.end());
    nominal = *middle;
  }
  numbers_.clear();
  for (const std::uint64_t difference : column_) {
    numbers_.push_back(zigzag_difference(difference, nominal));
  }
  const bool centered = !ascending || estimate_numbers(numbers_) < estimate_numbers(column_);
  body.bytes().write_varint(base);
  body.bytes().write_varint(unit);
  body.bytes().write(static_cast<std::uint8_t>(centered ? 1 : 0));
  if (centered) {
    body.bytes().write_varint(nominal);
  }
  write_numbers(centered ? numbers_ : column_, body);
}

void SampleBlockEncoder::encode_order(std::span<const StoredSample> samples, BlockContent& body) {
  EarliestQueue queue(cpus_.size());
  std::vector<std::size_t> next = group_begin_;
  const auto show_front = [&](std::size_t group) {
    if (next[group] == group_begin_[group + 1]) {
      queue.set_empty(group);
    } else {
      queue.set(group, samples[stored_[next[group]]].time_ns);
    }
  };
  for (std::size_t group = 0; group < cpus_.size(); ++group) {
    show_front(group);
  }
  column_.clear();
  for (const std::uint32_t group : group_of_) {
    column_.push_back((group + cpus_.size() - queue.earliest()) % cpus_.size());
    ++next[group];
    show_front(group);
  }
  write_column(column_, body);
}

void SampleBlockEncoder::encode_threads(BlockContent& body) {
  column_.clear();
  for (std::size_t group = 0; group < cpus_.size(); ++group) {
    std::size_t before = threads_.size();
    for (std::size_t at = group_begin_[group]; at < group_begin_[group + 1]; ++at) {
      const std::size_t thread = thread_of_[stored_[at]];
      column_.push_back(thread == before ? 0 : 1 + thread);
      before = thread;
    }
  }
  write_column(column_, body);
}

void SampleBlockEncoder::encode_weights(std::span<const StoredSample> samples, BlockContent& body) {
  std::vector<std::uint32_t> events;
  for (const StoredSample& sample : samples) {
    events.push_back(sample.event);
  }
  sort_unique(events);
  std::vector<std::uint64_t> before(events.size(), 0);
  column_.clear();
  for (const std::uint32_t at : stored_) {
    std::uint64_t& latest = before[index_in(events, samples[at].event)];
    column_.push_back(zigzag_difference(samples[at].weight, latest));
    latest = samples[at].weight;
  }
  write_numbers(column_, body);
}

template <typename Get>
void SampleBlockEncoder::encode_plain(std::span<const StoredSample> samples, Get get,
                                      BlockContent& body) {
  column_.clear();
  for (const std::uint32_t at : stored_) {
    column_.push_back(get(samples[at]));
  }
  write_column(column_, body);
}

void SampleBlockEncoder::encode_stacks(std::span<const StoredSample> samples, BlockContent& body) {
  std::vector<std::uint32_t> by_thread(samples.size());
  std::iota(by_thread.begin(), by_thread.end(), 0U);
  std::stable_sort(by_thread.begin(), by_thread.end(), [this](std::uint32_t a, std::uint32_t b) {
    return thread_of_[a] < thread_of_[b];
  });
  predictor_.begin_block(samples.size());
  column_.clear();
  numbers_.clear();
  for (std::size_t i = 0; i < by_thread.size(); ++i) {
    if (i > 0 && thread_of_[by_thread[i]] != thread_of_[by_thread[i - 1]]) {
      predictor_.begin_thread();
    }
    const StackId stack = samples[by_thread[i]].stack;
    if (stack == kNoStack) {
      column_.push_back(kNoStackCode);
      continue;
    }
    const StackPredictor::Guesses& guesses = predictor_.guesses();
    const auto guess = std::find(guesses.begin(), guesses.end(), stack);
    if (guess != guesses.end()) {
      column_.push_back(kFirstGuessCode + static_cast<std::uint64_t>(guess - guesses.begin()));
    } else {
      const StackId latest = predictor_.latest();
      column_.push_back(kDifferenceCode);
      numbers_.push_back(zigzag_difference(stack, latest == kNoStack ? 0 : latest));
    }
    predictor_.update(stack);
  }
  write_column(column_, body);
  write_numbers(numbers_, body);
}

}  // namespace stackpack::spk
