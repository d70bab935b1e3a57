#include "cli/event_note.h"

#include <algorithm>
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

void warn_of(std::string_view file, const std::vector<std::string>& notices,
             const Messages& messages) {
  constexpr std::size_t kMost = 6;
  for (std::size_t i = 0; i < std::min(kMost, notices.size()); ++i) {
    messages.warning(file, notices[i]);
  }
  if (notices.size() > kMost) {
    messages.warning(file, fmt::format("{} more of these; --json has all", notices.size() - kMost));
  }
}

void write_notices(JsonText& json, const std::vector<std::string>& notices) {
  if (notices.empty()) {
    return;
  }
  json.key("notices");
  json.begin_array();
  for (const std::string& notice : notices) {
    json.value(notice);
  }
  json.end_array();
}

std::vector<std::string> notices_of(const std::string& file, std::vector<std::string> notices) {
  for (std::string& notice : notices) {
    notice.insert(0, ": ").insert(0, file);
  }
  return notices;
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
