#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json_text.h"
#include "cli/messages.h"
#include "stackpack/export.h"
#include "stackpack/stats.h"

namespace stackpack::cli {

/// Says which event was taken because the user named none, and which ones were left out. Nothing
/// when nothing was left out. `remedy`: the options that take the others.
void note_event_choice(std::string_view file, std::string_view event,
                       const std::vector<EventCount>& others, std::string_view remedy,
                       const Messages& messages);

/// The same and what idle threads were, as fields `events_left_out` and `idle`.
void write_left_out(JsonText& json, const std::vector<EventCount>& others, const IdleLeftOut& idle);

/// Says what share of the processors' time was left out because it was idle; nothing where none
/// was.
void note_idle(std::string_view file, const IdleLeftOut& idle, const Messages& messages);

}  // namespace stackpack::cli
