#include "cli/event_note.h"

#include <string>

#include <fmt/format.h>

#include "cli/measure_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

void note_event_choice(std::string_view file, std::string_view event,
                       const std::vector<EventCount>& others, std::string_view remedy,
                       const Messages& messages) {
  if (others.empty()) {
    return;
  }
  std::string text = "only ";
  append_escaped(text, event);
  messages.note(file, fmt::format("{}; {}", text, left_out_sentence(others, remedy)));
}

void note_idle(std::string_view file, const IdleLeftOut& idle, const Messages& messages) {
  if (const std::string sentence = idle_sentence(idle); !sentence.empty()) {
    messages.note(file, sentence);
  }
}

}  // namespace stackpack::cli
