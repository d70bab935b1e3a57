#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "query/selection/capture_view.h"
#include "stackpack/filter.h"
#include "stackpack/result.h"
#include "symbols/symbol_index.h"

namespace stackpack::query {

/// A callstack in a mapping context: all that decides which images it runs through.
struct PlacedStack {
  StackId stack = kNoStack;
  std::uint32_t context = 0;
  std::uint32_t pid = kUnknownId;
  std::uint64_t time_ns = 0;
};

/// Finds the callstacks that run through images of given names. The frame of an imported profile
/// that has a name and no address goes by that.
///
/// Memory: a verdict per (callstack, context) up to a fixed number, then it starts anew.
class ModuleFilter {
 public:
  /// All of them must outlive the filter.
  ModuleFilter(const CaptureView& view, const symbols::SymbolIndex& symbols,
               const SampleFilter& filter);

  /// False when the filter names no module: everything is wanted.
  [[nodiscard]] bool active() const { return active_; }

  /// Whether each of `stacks` is wanted, into `wanted` (replaced).
  /// Errors: those of the reader.
  Status judge(std::span<const PlacedStack> stacks, std::vector<bool>& wanted);

 private:
  [[nodiscard]] bool runs_through(const PlacedStack& place,
                                  std::span<const Frame> leaf_first) const;

  const CaptureView& view_;
  const symbols::SymbolIndex& symbols_;
  const SampleFilter& filter_;
  bool active_;
  bool some_needed_;          // not only exclusions
  std::vector<bool> needed_;  // by row of the module table
  std::vector<bool> excluded_;
  std::unordered_map<std::uint64_t, bool> verdicts_;  // by callstack and context
};

}  // namespace stackpack::query
