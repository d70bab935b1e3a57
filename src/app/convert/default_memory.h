#pragma once

#include <algorithm>
#include <cstdint>

#include "app/convert/memory_plan.h"
#include "stackpack/convert.h"

namespace stackpack::app {

/// The bound of a conversion without --memory-limit.
///
/// It is the same number on every machine, so that the same capture takes as long and as much
/// scratch wherever it is converted; it does not show in the file. Only where it would be more than
/// a quarter of the memory, together with the conversions beside this one, it is less.
struct DefaultMemory {
  static constexpr std::uint64_t kLeast = 3 * MemoryPlan::kLeastLimit;
  static constexpr std::uint64_t kShare = 4;  ///< one part in so many

  /// `usable`: bytes that the process may take; `at_a_time`: conversions that share them.
  static std::uint64_t of_machine(std::uint64_t usable, unsigned at_a_time) {
    return std::clamp(usable / kShare / std::max(1U, at_a_time), kLeast,
                      ConvertOptions::kDefaultMemory);
  }
};

}  // namespace stackpack::app
