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

void write_left_out(JsonText& json, const std::vector<EventCount>& others,
                    const IdleLeftOut& idle) {
  json.key("events_left_out");
  json.begin_array();
  for (const EventCount& other : others) {
    json.begin_object();
    json.field("name", other.name);
    json.field("samples", other.samples);
    json.end_object();
  }
  json.end_array();
  json.key("idle");
  json.begin_object();
  json.field("samples", idle.samples);
  json.field("share", idle.share());
  json.end_object();
}

}  // namespace stackpack::cli
