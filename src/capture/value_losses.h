#pragma once

#include <array>
#include <string_view>

namespace stackpack::capture::value_loss {

/// Damage: texts or names of files beyond the memory for them; their fields are empty.
inline constexpr std::string_view kTextsOverLimit = "event_value_texts_over_limit";
/// Damage: payloads that are too short for what their event says.
inline constexpr std::string_view kBadValues = "bad_event_values";

inline constexpr std::array kAll{kTextsOverLimit, kBadValues};

}  // namespace stackpack::capture::value_loss
