// Which functions call which, counted once: `top`, `callers` and `callees` of a file that stays
// open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/analysis/hot_spots.h"
#include "core/number_table.h"
#include "query/naming/frame_entities.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

class SampleCounting;

/// The sums of all functions and of all pairs of a function and one that it calls. Immutable once
/// it was counted: any number of threads may ask.
///
/// Memory: 60 bytes for each pair, at most kMostPairs, and the names of the functions.
class CallSums {
 public:
  static constexpr std::size_t kMostPairs = std::size_t{1} << 20;

  /// Counts the samples once. `query`: by function. Errors: as hot_spots; kLimit: more pairs.
  static Result<std::unique_ptr<const CallSums>> count(const Reader& reader,
                                                       const HotSpotQuery& query);

  /// The same as app::hot_spots of the query, in the order of sort_hot_spots. Cost: a row for each
  /// function.
  [[nodiscard]] HotSpots hot_spots(bool by_self) const;

  /// The same as app::neighbours of the query; nothing where the text means several functions,
  /// none, or one without a sum: those have to be counted.
  [[nodiscard]] std::optional<Neighbours> neighbours(const std::string& function,
                                                     NeighbourSide side) const;

 private:
  static constexpr std::uint32_t kNoFunction = ~std::uint32_t{0};

  struct Pair {
    std::uint32_t callee = 0;
    std::uint32_t caller = kNoFunction;  ///< none: it is the root
    std::uint64_t total = 0;
    std::uint64_t self = 0;  ///< of samples whose leaf is the callee, called so
    std::uint64_t last_stack = 0;
  };
  struct Sum {
    std::uint64_t total = 0;
    std::uint64_t self = 0;
    std::uint64_t last_stack = 0;
  };
  /// Numbers of pairs by one of their functions: those of function n are [begins[n], begins[n+1]).
  struct PairsByFunction {
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> pairs;

    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t function) const {
      return std::span(pairs).subspan(begins[function], begins[function + 1] - begins[function]);
    }
  };

  void add(std::span<const std::uint32_t> leaf_first, std::uint64_t value);
  std::uint32_t pair_of(std::uint32_t callee, std::uint32_t caller);
  Sum& sum_of(std::uint32_t function);
  void finish(const SampleCounting& counting);
  [[nodiscard]] PairsByFunction index_by(std::uint32_t Pair::*function) const;
  [[nodiscard]] std::optional<std::uint32_t> function_of(const std::string& text) const;

  HotSpots about_;                       // without rows
  std::vector<HotSpot> by_self_;         // sorted
  std::vector<std::uint32_t> by_total_;  // indices of by_self_, sorted
  std::vector<query::FrameEntity> functions_;
  std::vector<Sum> sums_;
  std::vector<Pair> pairs_;
  PairsByFunction by_callee_;
  PairsByFunction by_caller_;
  // While it is counted.
  core::NumberTable<std::uint64_t> numbers_;  // of pairs
  std::vector<std::uint32_t> last_stack_;     // root first
  std::vector<std::uint32_t> last_pairs_;     // of each frame with its caller
  std::uint64_t stacks_ = 0;
};

}  // namespace stackpack::app
