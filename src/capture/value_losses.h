#pragma once

#include <array>
#include <string_view>

namespace stackpack::capture::value_loss {

/// Damage: texts or names of files beyond the memory for them; their fields are empty.
inline constexpr std::string_view kTextsOverLimit = "event_value_texts_over_limit";
/// Damage: payloads that are too short for what their event says.
inline constexpr std::string_view kBadValues = "bad_event_values";

/// Notice: reads and writes whose begin was forgotten before their end, for want of memory: they
/// have no callstack, or no latency.
inline constexpr std::string_view kForgottenRequests = "forgotten_io_requests";

inline constexpr std::array kAll{kTextsOverLimit, kBadValues, kForgottenRequests};

}  // namespace stackpack::capture::value_loss
