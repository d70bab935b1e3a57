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

/// Warns of what the captures do not have (app::cut_notices), the first few lines of many files.
void warn_of(std::string_view file, const std::vector<std::string>& notices,
             const Messages& messages);

/// The same as the field `notices`; no field where there are none.
void write_notices(JsonText& json, const std::vector<std::string>& notices);

/// Those of one file among several say which it is.
std::vector<std::string> notices_of(const std::string& file, std::vector<std::string> notices);

}  // namespace stackpack::cli
