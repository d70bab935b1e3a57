// What the samples of a stretch of time count for, by callstack in its context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/number_table.h"
#include "stackpack/model.h"

namespace stackpack::app {

// Numbers of callstacks in their contexts.

/// A trace is a callstack in a context of names: numbers traces as they come.
///
/// Contexts that fit have an array by callstack, since samples are many and a hash is slow; all
/// others share a hash.
/// Memory: kMostSlots numbers, and 8 to 24 bytes a trace.
class TraceNumbers {
 public:
  /// `stacks`: all callstacks are below, or kNoStack.
  explicit TraceNumbers(StackId stacks)
      : stacks_(stacks), most_arrays_(kMostSlots / (std::size_t{stacks} + 1)) {}

  /// The number of a trace, which is new if it is that of the latest one.
  std::uint32_t number(std::uint32_t context, StackId stack) {
    const std::uint64_t trace = (std::uint64_t{context} << 32) | stack;
    if (context >= most_arrays_) {
      const std::uint32_t other = others_.number(trace);
      if (other == of_others_.size()) {
        of_others_.push_back(add(trace));
      }
      return of_others_[other];
    }
    while (context >= arrays_.size()) {
      arrays_.emplace_back();
    }
    std::vector<std::uint32_t>& numbers = arrays_[context];
    if (numbers.empty()) {
      numbers.assign(std::size_t{stacks_} + 1, kNone);
    }
    std::uint32_t& number = numbers[stack == kNoStack ? stacks_ : stack];
    if (number == kNone) {
      number = add(trace);
    }
    return number;
  }

  [[nodiscard]] std::size_t size() const { return traces_.size(); }
  [[nodiscard]] std::uint32_t context(std::uint32_t trace) const {
    return static_cast<std::uint32_t>(traces_[trace] >> 32);
  }
  [[nodiscard]] StackId stack(std::uint32_t trace) const {
    return static_cast<StackId>(traces_[trace]);
  }
  /// Ascends by context, then callstack.
  [[nodiscard]] std::uint64_t key(std::uint32_t trace) const { return traces_[trace]; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kMostSlots = std::size_t{1} << 23;

  std::uint32_t add(std::uint64_t trace) {
    traces_.push_back(trace);
    return static_cast<std::uint32_t>(traces_.size() - 1);
  }

  StackId stacks_;
  std::size_t most_arrays_;
  std::vector<std::vector<std::uint32_t>> arrays_;  // by context, by callstack
  core::NumberTable<std::uint64_t, core::SpreadBits> others_;
  std::vector<std::uint32_t> of_others_;
  std::vector<std::uint64_t> traces_;  // by number: context and callstack
};

/// Sums up values by trace, until drain() hands them out.
///
/// Samples are many, and a callstack has many of them: in contexts that fit there is an array by
/// callstack, in which a sample is one addition. Traces get their numbers when they are handed out.
/// Memory: kMostSlots values, 12 bytes for each trace with a value, and what TraceNumbers takes.
class TraceCounts {
 public:
  /// `stacks`: all callstacks are below, or kNoStack. `numbers` must outlive this.
  TraceCounts(StackId stacks, TraceNumbers& numbers)
      : numbers_(numbers), stacks_(stacks), most_arrays_(kMostSlots / (std::size_t{stacks} + 1)) {}

  void add(std::uint32_t context, StackId stack, std::uint64_t value) {
    if (context >= most_arrays_) {
      add_to_other(numbers_.number(context, stack), value);
      return;
    }
    if (context >= arrays_.size() || arrays_[context].empty()) {
      make_array(context);
    }
    std::uint64_t& sum = arrays_[context][slot_of(stack)];
    if (sum == 0 && value != 0) {
      touched_.push_back((std::uint64_t{context} << 32) | stack);
    }
    sum += value;
  }

  /// Fetches what add() will look at: of many callstacks it lies beyond the caches.
  void prefetch(std::uint32_t context, StackId stack) const {
    if (context < arrays_.size() && !arrays_[context].empty()) {
      __builtin_prefetch(arrays_[context].data() + slot_of(stack), 1);
    }
  }

  /// Calls visit(trace, sum) for every trace with a value, and forgets the values.
  template <typename Visit>
  void drain(const Visit& visit) {
    for (const std::uint64_t place : touched_) {
      const auto context = static_cast<std::uint32_t>(place >> 32);
      const auto stack = static_cast<StackId>(place);
      std::uint64_t& sum = arrays_[context][slot_of(stack)];
      visit(numbers_.number(context, stack), sum);
      sum = 0;
    }
    touched_.clear();
    for (const std::uint32_t trace : touched_others_) {
      visit(trace, others_[trace]);
      others_[trace] = 0;
    }
    touched_others_.clear();
  }

 private:
  static constexpr std::size_t kMostSlots = std::size_t{1} << 22;

  [[nodiscard]] std::size_t slot_of(StackId stack) const {
    return stack == kNoStack ? stacks_ : stack;
  }

  void make_array(std::uint32_t context) {
    if (context >= arrays_.size()) {
      arrays_.resize(std::size_t{context} + 1);
    }
    arrays_[context].assign(std::size_t{stacks_} + 1, 0);
  }

  void add_to_other(std::uint32_t trace, std::uint64_t value) {
    if (trace >= others_.size()) {
      others_.resize(std::size_t{trace} + 1);
    }
    if (others_[trace] == 0 && value != 0) {
      touched_others_.push_back(trace);
    }
    others_[trace] += value;
  }

  TraceNumbers& numbers_;
  StackId stacks_;
  std::size_t most_arrays_;
  std::vector<std::vector<std::uint64_t>> arrays_;  // by context, by callstack
  std::vector<std::uint64_t> touched_;              // context and callstack
  std::vector<std::uint64_t> others_;               // by trace
  std::vector<std::uint32_t> touched_others_;
};

}  // namespace stackpack::app
