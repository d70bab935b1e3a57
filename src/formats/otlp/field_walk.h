#pragma once

#include <cstdint>

#include "capture/read_control.h"
#include "formats/otlp/message_walk.h"

namespace stackpack::otlp {

/// Hands out the fields of the message that ends at `end`, each of which `take` loads, enters or
/// passes over. Errors: those of the walk, of `take`; kCancelled.
template <typename Take>
Status each_field(MessageWalk& walk, std::uint64_t end, const capture::ReadControl& control,
                  Take take) {
  Field field;
  while (true) {
    if (control.stop_requested()) {
      return Error{ErrorCode::kCancelled, walk.offset(), "otlp: cancelled"};
    }
    const Result<bool> more = walk.next(field, end);
    if (!more || !*more) {
      return more ? Status{} : Status(more.error());
    }
    if (const Status status = take(field); !status) {
      return status;
    }
  }
}

/// Most bytes of what is neither a table nor a sample.
inline constexpr std::uint64_t kMostSmallBytes = std::uint64_t{1} << 20;

inline bool is_damage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated;
}

}  // namespace stackpack::otlp
