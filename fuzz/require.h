// What the bodies of the targets have instead of assertions.
#pragma once

#include <cstdlib>

namespace stackpack::fuzz {

/// Aborts, which a fuzzer takes for a finding and a test for a failure, unless `condition` holds.
inline void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
