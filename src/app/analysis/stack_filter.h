// Which callstacks a report counts, and which of their frames it shows, by functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "query/function_pattern.h"
#include "query/naming/frame_entities.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Chooses callstacks and frames by StackPatterns.
class StackFilter {
 public:
  /// Errors: kUsage: a pattern cannot be read.
  static Result<StackFilter> create(const StackPatterns& patterns);

  [[nodiscard]] bool empty() const { return focus_.empty() && ignore_.empty() && hide_.empty(); }

  /// The frames of a callstack that are shown, whole modules and files; nothing: it is not
  /// counted. Valid until the next call. `leaf_first`: numbers of `entities`, which keep functions
  /// unless this is empty.
  std::optional<std::span<const std::uint32_t>> apply(std::span<const std::uint32_t> leaf_first,
                                                      query::FrameEntities& entities);

 private:
  enum Role : std::uint8_t { kKnown = 1, kFocused = 2, kIgnored = 4, kHidden = 8 };

  std::uint8_t roles_of(std::uint32_t entity, const query::FrameEntities& entities);

  std::vector<query::FunctionPattern> focus_;
  std::vector<query::FunctionPattern> ignore_;
  std::vector<query::FunctionPattern> hide_;
  std::vector<std::uint8_t> roles_;  // by entity, once it was seen
  std::vector<std::uint32_t> shown_;
};

}  // namespace stackpack::app
