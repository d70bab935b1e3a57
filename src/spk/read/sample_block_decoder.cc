#include "spk/read/sample_block_decoder.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "bytes/byte_writer.h"
#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/format/sample_order.h"

namespace stackpack::spk {

namespace {

std::uint64_t add_zigzag(std::uint64_t before, std::uint64_t code) {
  return before + static_cast<std::uint64_t>(bytes::zigzag_decode(code));
}

bool all_at_most(std::span<const std::uint64_t> values, std::uint64_t limit) {
  return std::all_of(values.begin(), values.end(),
                     [limit](std::uint64_t value) { return value <= limit; });
}

}  // namespace

Status decode_sample_head(bytes::ByteCursor in, std::uint32_t samples, SampleHead& head) {
  const std::uint64_t count = read_varint(in);
  const std::uint64_t threads = read_varint(in);
  if (!in.ok() || count != samples || threads == 0 || threads > count) {
    return in.corrupt("spk: samples: head");
  }
  head.samples = samples;
  head.threads.clear();
  std::vector<std::uint64_t> pids;
  std::vector<std::uint64_t> tids;
  read_column(in, static_cast<std::size_t>(threads), pids);
  read_column(in, static_cast<std::size_t>(threads), tids);
  if (!in.ok() || in.remaining() != 0 || !all_at_most(pids, kMax32) || !all_at_most(tids, kMax32)) {
    return in.corrupt("spk: samples: threads");
  }
  std::uint64_t pid = 0;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    pid += pids[i];
    const ThreadKey thread{static_cast<std::uint32_t>(pid), static_cast<std::uint32_t>(tids[i])};
    if (pid > kMax32 || (i > 0 && thread <= head.threads.back())) {
      return in.corrupt("spk: samples: threads do not ascend");
    }
    head.threads.push_back(thread);
  }
  return {};
}

Status SampleBlockDecoder::decode(bytes::ByteCursor in, const SampleHead& head,
                                  std::uint64_t stack_count, std::uint64_t event_count, Order order,
                                  std::vector<StoredSample>& samples) {
  count_ = head.samples;
  if (!decode_groups(in, head.samples) || !decode_times(in) || !decode_order(in) ||
      !decode_threads(in, head.threads.size()) || !decode_fields(in, event_count) ||
      !decode_stacks(in, stack_count) || in.remaining() != 0) {
    return in.corrupt("spk: samples: body");
  }
  samples.resize(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    samples[i] = row(head, order == Order::kStored ? i : stored_[i]);
  }
  return {};
}

StoredSample SampleBlockDecoder::row(const SampleHead& head, std::size_t at) const {
  StoredSample sample;
  sample.time_ns = times_[at];
  std::tie(sample.pid, sample.tid) = head.threads[thread_of_[at]];
  sample.cpu = cpu_of_[at];
  sample.event = events_[at];
  sample.weight = weights_[at];
  sample.origin = origins_[at];
  sample.flags = flags_[at];
  sample.stack = stacks_[at];
  return sample;
}

bool SampleBlockDecoder::decode_groups(bytes::ByteCursor& in, std::size_t count) {
  const std::uint64_t groups = read_varint(in);
  if (!in.ok() || groups == 0 || groups > count) {
    return false;
  }
  read_column(in, static_cast<std::size_t>(groups), cpus_);
  read_column(in, static_cast<std::size_t>(groups), column_);
  if (!in.ok() || !all_at_most(cpus_, kMax32) ||
      std::adjacent_find(cpus_.begin(), cpus_.end(), std::greater_equal<>()) != cpus_.end()) {
    return false;
  }
  group_begin_.assign(1, 0);
  cpu_of_.resize(count);
  for (std::size_t group = 0; group < cpus_.size(); ++group) {
    const std::uint64_t size = column_[group];
    if (size == 0 || size > count - group_begin_.back()) {
      return false;
    }
    std::fill_n(cpu_of_.begin() + static_cast<std::ptrdiff_t>(group_begin_.back()), size,
                static_cast<std::uint32_t>(cpus_[group]));
    group_begin_.push_back(group_begin_.back() + static_cast<std::size_t>(size));
  }
  return group_begin_.back() == count;
}

bool SampleBlockDecoder::decode_times(bytes::ByteCursor& in) {
  const std::uint64_t base = read_varint(in);
  const std::uint64_t unit = read_varint(in);
  const unsigned form = in.read<std::uint8_t>();
  const std::uint64_t nominal = form == 1 ? read_varint(in) : 0;
  read_column(in, count_, column_);
  if (!in.ok() || unit == 0 || form > 1) {
    return false;
  }
  times_.resize(count_);
  for (std::size_t group = 0; group + 1 < group_begin_.size(); ++group) {
    std::uint64_t time = base;
    for (std::size_t at = group_begin_[group]; at < group_begin_[group + 1]; ++at) {
      // Modulo 2^64, as the writer: any bytes give some time, and the index says which are
      // possible.
      const std::uint64_t code = column_[at];
      time += unit * (form == 1 ? add_zigzag(nominal, code) : code);
      times_[at] = time;
    }
  }
  return true;
}

bool SampleBlockDecoder::decode_order(bytes::ByteCursor& in) {
  read_column(in, count_, column_);
  const std::size_t groups = cpus_.size();
  if (!in.ok() || groups == 0 || !all_at_most(column_, groups - 1)) {
    return false;
  }
  stored_.resize(count_);
  if (groups == 1) {
    std::iota(stored_.begin(), stored_.end(), 0U);
    return true;
  }
  EarliestQueue queue(groups);
  std::vector<std::size_t> next = group_begin_;
  for (std::size_t group = 0; group < groups; ++group) {
    queue.set(group, times_[next[group]]);
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t group = (queue.earliest() + static_cast<std::size_t>(column_[i])) % groups;
    if (queue.empty(group)) {
      return false;
    }
    stored_[i] = static_cast<std::uint32_t>(next[group]++);
    if (next[group] == group_begin_[group + 1]) {
      queue.set_empty(group);
    } else {
      queue.set(group, times_[next[group]]);
    }
  }
  return true;
}

bool SampleBlockDecoder::decode_threads(bytes::ByteCursor& in, std::size_t thread_count) {
  read_column(in, count_, column_);
  if (!in.ok() || !all_at_most(column_, thread_count)) {
    return false;
  }
  thread_of_.resize(count_);
  for (std::size_t group = 0; group + 1 < group_begin_.size(); ++group) {
    if (column_[group_begin_[group]] == 0) {
      return false;
    }
    for (std::size_t at = group_begin_[group]; at < group_begin_[group + 1]; ++at) {
      thread_of_[at] =
          column_[at] == 0 ? thread_of_[at - 1] : static_cast<std::uint32_t>(column_[at] - 1);
    }
  }
  sort_by_thread(thread_count);
  return true;
}

bool SampleBlockDecoder::decode_fields(bytes::ByteCursor& in, std::uint64_t event_count) {
  read_column(in, count_, column_);
  if (!in.ok() || event_count == 0 || !all_at_most(column_, event_count - 1)) {
    return false;
  }
  events_.assign(column_.begin(), column_.end());
  read_column(in, count_, column_);
  if (!in.ok()) {
    return false;
  }
  weights_.resize(count_);
  std::vector<std::uint64_t> latest(static_cast<std::size_t>(event_count), 0);
  for (std::size_t at = 0; at < count_; ++at) {
    std::uint64_t& weight = latest[events_[at]];
    weight = add_zigzag(weight, column_[at]);
    weights_[at] = weight;
  }
  return decode_origins(in);
}

bool SampleBlockDecoder::decode_origins(bytes::ByteCursor& in) {
  read_column(in, count_, column_);
  if (!in.ok() || !all_at_most(column_, static_cast<std::uint64_t>(StackOrigin::kRecorded))) {
    return false;
  }
  origins_.resize(count_);
  for (std::size_t at = 0; at < count_; ++at) {
    origins_[at] = static_cast<StackOrigin>(column_[at]);
  }
  read_column(in, count_, column_);
  if (!in.ok() || !all_at_most(column_, ~std::uint8_t{0} & 0xFF)) {
    return false;
  }
  flags_.resize(count_);
  for (std::size_t at = 0; at < count_; ++at) {
    flags_[at] = static_cast<std::uint8_t>(column_[at] & ~std::uint64_t{kUnwoundFlag});
    if ((column_[at] & kUnwoundFlag) != 0) {
      if (origins_[at] != StackOrigin::kRecorded) {
        return false;
      }
      origins_[at] = StackOrigin::kUnwound;
    }
  }
  return true;
}

// Samples thread by thread, each in the order of the capture.
void SampleBlockDecoder::sort_by_thread(std::size_t thread_count) {
  std::vector<std::uint32_t> next(thread_count + 1, 0);
  for (const std::uint32_t thread : thread_of_) {
    ++next[thread + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  by_thread_.resize(thread_of_.size());
  for (const std::uint32_t at : stored_) {
    by_thread_[next[thread_of_[at]]++] = at;
  }
}

bool SampleBlockDecoder::decode_stacks(bytes::ByteCursor& in, std::uint64_t stack_count) {
  read_column(in, count_, column_);
  if (!in.ok() || !all_at_most(column_, kFirstGuessCode + kStackGuesses - 1)) {
    return false;
  }
  stacks_.assign(count_, kNoStack);
  const auto count = static_cast<std::size_t>(
      std::count(column_.begin(), column_.end(), std::uint64_t{kDifferenceCode}));
  read_column(in, count, differences_);
  if (!in.ok()) {
    return false;
  }
  std::size_t next = 0;
  std::size_t end = 0;  // of the thread's samples
  for (std::size_t i = 0; i < by_thread_.size(); ++i) {
    const std::uint32_t at = by_thread_[i];
    if (i == end) {
      while (end < by_thread_.size() && thread_of_[by_thread_[end]] == thread_of_[at]) {
        ++end;
      }
      predictor_.begin_thread(end - i);
    }
    const std::uint64_t code = column_[i];
    if (code == kNoStackCode) {
      continue;
    }
    std::uint64_t stack = 0;
    auto guess = static_cast<unsigned>(code - kFirstGuessCode);  // guesses differ from each other
    if (code == kDifferenceCode) {
      const StackId latest = predictor_.latest();
      stack = add_zigzag(latest == kNoStack ? 0 : latest, differences_[next++]);
      guess = predictor_.find(static_cast<StackId>(stack));
    } else {
      stack = predictor_.guesses()[guess];
    }
    if (stack >= stack_count) {  // also kNoStack, where there is no such guess
      return false;
    }
    stacks_[at] = static_cast<StackId>(stack);
    predictor_.update(stacks_[at], guess);
  }
  return true;
}

}  // namespace stackpack::spk
