// Amounts in conditions of a gate, and changes that are known.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "stackpack/diff.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct GateAmount {
  GateMeasure kind = GateMeasure::kCost;
  double value = 0;  ///< pp and % as a part of 1, times in ns
  bool of_time = false;
};

/// `+0.5pp`, `-10%`, `1%`, `+50ms`, `+3M`, `+1200`. Nothing for what is none.
std::optional<GateAmount> amount_of(std::string_view word);

/// Without blanks at both ends.
std::string_view without_blanks(std::string_view text);

/// `PATTERN` or `PATTERN up to +2pp`. Errors: kCorrupt at `offset`, for an amount that is none.
Result<AllowedChange> allowed_change_of(std::string_view line, std::size_t offset);

}  // namespace stackpack::app
