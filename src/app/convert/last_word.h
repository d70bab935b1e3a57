// Whoever watches a conversion or a merge has the last word before its output takes its place.
#pragma once

#include <chrono>
#include <thread>

#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Waits while the output is held. Errors: kCancelled.
inline Status wait_for_last_word(const ConvertProgress& progress) {
  constexpr std::chrono::milliseconds kTick{2};
  while (progress.held && !progress.cancelled) {
    std::this_thread::sleep_for(kTick);
  }
  return progress.cancelled ? Status(Error{ErrorCode::kCancelled, kNoOffset, "interrupted"})
                            : Status{};
}

}  // namespace stackpack::app
