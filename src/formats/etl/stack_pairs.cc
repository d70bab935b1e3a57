#include "formats/etl/stack_pairs.h"

#include <algorithm>

#include "formats/etl/index_table.h"

namespace stackpack::etl {

std::size_t StackPairs::KeyHash::operator()(const Key& key) const {
  return static_cast<std::size_t>(mix_bits((std::uint64_t{key.kernel} << 32) | key.user) +
                                  (key.borrowed ? 1 : 0));
}

bool StackPairs::ready(const Pair& pair) const {
  return (pair.kernel == kNoPart || keys_.defined(pair.kernel)) &&
         (pair.user == kNoPart || keys_.defined(pair.user));
}

Status StackPairs::add(const EventFacts& event, StackPart kernel, StackPart user, bool borrowed) {
  const Key key{kernel, user, borrowed};
  const auto found = by_parts_.find(key);
  if (found != by_parts_.end()) {
    Pair& pair = pairs_[found->second];
    ++pair.samples;
    return samples_.promised(event, pair.promise);
  }
  std::uint32_t number = 0;
  if (free_.empty()) {
    number = static_cast<std::uint32_t>(pairs_.size());
    pairs_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  const capture::PendingStack promise = samples_.promise();
  pairs_[number] = {promise, kernel, user, borrowed, 1};
  by_parts_.emplace(key, number);
  for (const StackPart part : {kernel, user}) {
    if (part != kNoPart) {
      keys_.add_use(part);
      if (!keys_.defined(part)) {
        by_open_part_.emplace(part, number);
      }
    }
  }
  return samples_.promised(event, promise);
}

Status StackPairs::part_defined(StackPart part) {
  const auto [begin, end] = by_open_part_.equal_range(part);
  std::vector<std::uint32_t> numbers;
  for (auto it = begin; it != end; ++it) {
    numbers.push_back(it->second);
  }
  by_open_part_.erase(begin, end);
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    const Pair pair = pairs_[number];
    if (!ready(pair)) {
      continue;
    }
    if (const Status settled = settle(pair); !settled) {
      return settled;
    }
    by_parts_.erase({pair.kernel, pair.user, pair.borrowed});
    keys_.release(pair.kernel);
    keys_.release(pair.user);
    free_.push_back(number);
  }
  return {};
}

// The frames that are known, kernel half first.
Status StackPairs::settle(const Pair& pair) {
  const bool kernel = pair.kernel != kNoPart && keys_.defined(pair.kernel);
  const bool user = pair.user != kNoPart && keys_.defined(pair.user);
  if (!kernel && (!user || pair.borrowed)) {
    return {};
  }
  scratch_.clear();
  if (kernel) {
    const auto frames = keys_.frames(pair.kernel);
    scratch_.insert(scratch_.end(), frames.begin(), frames.end());
  }
  if (user) {
    const auto frames = keys_.frames(pair.user);
    scratch_.insert(scratch_.end(), frames.begin(), frames.end());
  }
  counts_.add(kernel, user, pair.samples);
  counts_.borrowed += kernel && user && pair.borrowed ? pair.samples : 0;
  counts_.frames += scratch_.size() * pair.samples;
  return samples_.keep_promise(pair.promise, scratch_);
}

Status StackPairs::finish() {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(by_parts_.size());
  for (const auto& [key, number] : by_parts_) {
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    if (const Status settled = settle(pairs_[number]); !settled) {
      return settled;
    }
  }
  return {};
}

}  // namespace stackpack::etl
