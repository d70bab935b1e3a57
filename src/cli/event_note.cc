#include "cli/event_note.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "cli/human_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

void note_event_choice(std::string_view file, std::string_view event,
                       const std::vector<EventCount>& others, std::string_view remedy,
                       const Messages& messages) {
  constexpr std::size_t kMostNames = 6;
  if (others.empty()) {
    return;
  }
  std::string text = "only ";
  append_escaped(text, event);
  text += "; left out:";
  for (std::size_t i = 0; i < std::min(others.size(), kMostNames); ++i) {
    text += i == 0 ? " " : ", ";
    append_escaped(text, others[i].name);
    text += others[i].samples == 0 ? "" : fmt::format(" ({})", grouped(others[i].samples));
  }
  if (others.size() > kMostNames) {
    text += fmt::format(" and {} more", others.size() - kMostNames);
  }
  messages.note(file, fmt::format("{}; see {}", text, remedy));
}

}  // namespace stackpack::cli
