// Numbers of callstacks in their contexts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/number_table.h"
#include "stackpack/model.h"

namespace stackpack::app {

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
  /// By context, then callstack.
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return traces_[a] < traces_[b];
  }

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

}  // namespace stackpack::app
