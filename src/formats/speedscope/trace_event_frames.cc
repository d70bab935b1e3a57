#include "formats/speedscope/trace_event_frames.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace stackpack::speedscope {

namespace {

// Events as the same samples have them in a .nettrace file; on a processor, that of the profile.
struct State {
  std::string_view frame;
  std::string_view event;
};
constexpr State kStates[] = {
    {"CPU_TIME", ""}, {"UNMANAGED_CODE_TIME", "External"}, {"BLOCKED_TIME", "blocked"}};
constexpr std::string_view kGroups[] = {"Threads", "(Activities)", "(Non-Activities)"};

struct Numbered {
  std::string_view before;
  std::uint32_t id = 0;
  std::string_view after;
};

// `BEFORE(ID)AFTER`, by the first brackets that have a number in them.
std::optional<Numbered> numbered(std::string_view text) {
  for (std::size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    const std::size_t close = std::min(text.find(')', open), text.size());
    Numbered found{text.substr(0, open), 0, text.substr(std::min(close + 1, text.size()))};
    const auto parsed = std::from_chars(text.data() + open + 1, text.data() + close, found.id);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + close && close < text.size()) {
      return found;
    }
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::optional<TraceEventFrame> process_of(std::string_view text) {
  const std::size_t blank = text.find(' ');
  const std::string_view kind = text.substr(0, blank);
  if (blank == std::string_view::npos ||
      (kind != "Process" && kind != "Process32" && kind != "Process64")) {
    return std::nullopt;
  }
  const auto found = numbered(text);
  if (!found) {
    return std::nullopt;
  }
  constexpr std::string_view kArguments = " Args:";
  TraceEventFrame frame;
  frame.role = FrameRole::kProcess;
  frame.name = trimmed(found->before.substr(std::min(blank, found->before.size())));
  frame.id = found->id;
  if (found->after.starts_with(kArguments)) {
    frame.command_line = trimmed(found->after.substr(kArguments.size()));
  }
  return frame;
}

std::optional<TraceEventFrame> thread_of(std::string_view text) {
  const auto found = numbered(text);
  if (!found || found->before != "Thread ") {
    return std::nullopt;
  }
  TraceEventFrame frame;
  frame.role = FrameRole::kThread;
  frame.name = trimmed(found->after);
  frame.id = found->id;
  if (frame.name.starts_with('(') && frame.name.ends_with(')')) {
    frame.name = frame.name.substr(1, frame.name.size() - 2);
  }
  return frame;
}

// Whether what stands before a `!` is the name of an image.
bool is_image(std::string_view text) {
  return !text.empty() && text.find_first_of(" (<[") == std::string_view::npos;
}

}  // namespace

bool is_trace_event(std::string_view exporter) {
  return exporter.starts_with("Microsoft.Diagnostics.Tracing.TraceEvent");
}

std::optional<TraceEventFrame> state_frame(std::string_view text) {
  for (const State& state : kStates) {
    if (text == state.frame) {
      TraceEventFrame frame;
      frame.role = FrameRole::kState;
      frame.event = state.event;
      return frame;
    }
  }
  return std::nullopt;
}

TraceEventFrame trace_event_frame(std::string_view text) {
  if (const auto state = state_frame(text)) {
    return *state;
  }
  TraceEventFrame frame;
  if (std::find(std::begin(kGroups), std::end(kGroups), text) != std::end(kGroups)) {
    frame.role = FrameRole::kGroup;
    return frame;
  }
  if (const auto process = process_of(text)) {
    return *process;
  }
  if (const auto thread = thread_of(text)) {
    return *thread;
  }
  frame.name = text;
  const std::size_t mark = text.find('!');
  if (mark != std::string_view::npos && is_image(text.substr(0, mark)) &&
      text.substr(mark + 1) != "?" && mark + 1 < text.size()) {
    frame.image = text.substr(0, mark);
    frame.name = text.substr(mark + 1);
  }
  return frame;
}

}  // namespace stackpack::speedscope
