// Backtraces, each of which is one sample: gdb's, eu-stack's, jstack's and those of Python's
// faulthandler.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "formats/stacks/stack_dialects.h"
#include "formats/stacks/stack_words.h"

namespace stackpack::stacks {

namespace {

constexpr core::DecimalWeight kOne{1, 0, false};

// `FILE:LINE` at the end of a text.
void take_place(std::string_view text, TextFrame& frame) {
  const std::size_t colon = text.rfind(':');
  const auto line = colon == std::string_view::npos ? std::nullopt : id_of(text.substr(colon + 1));
  if (line) {
    frame.file = text.substr(0, colon);
    frame.line = *line;
  }
}

// `#N  0xADDRESS in NAME (ARGUMENTS) at FILE:LINE` of gdb, `#N  0xADDRESS NAME` of eu-stack.
bool take_numbered(std::string_view text, TextFrame& frame) {
  if (!is_digits(take_word(text).substr(1))) {
    return false;
  }
  std::string_view rest = text;
  const std::string_view address = take_word(rest);
  const bool has_address = address.starts_with("0x") && is_hex_digits(address.substr(2));
  text = trimmed(has_address ? rest : text);
  text.remove_prefix(has_address && text.starts_with("in ") ? 3 : 0);
  const std::size_t open = text.find(" (");
  if (!has_address && open == std::string_view::npos && !text.starts_with('<')) {
    return false;
  }
  frame.name = text.empty() ? "[unknown]" : text.substr(0, open);
  if (const std::size_t at = text.rfind(") at "); at != std::string_view::npos) {
    take_place(text.substr(at + 5), frame);
  } else if (const std::size_t from = text.rfind(") from "); from != std::string_view::npos) {
    frame.image = text.substr(from + 7);
  }
  return true;
}

// `at CLASS.METHOD(FILE:LINE)` of Java.
bool take_java(std::string_view text, TextFrame& frame) {
  const std::size_t open = text.find('(');
  if (!text.starts_with("at ") || !text.ends_with(')') || open == std::string_view::npos) {
    return false;
  }
  frame.name = trimmed(text.substr(3, open - 3));
  const std::string_view place = text.substr(open + 1, text.size() - open - 2);
  take_place(place.substr(place.rfind('/') + 1), frame);  // `java.base@17/Thread.java:12`
  return !frame.name.empty();
}

// `File "FILE", line LINE in NAME` of Python.
bool take_python(std::string_view text, TextFrame& frame) {
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kFile = "File \"";
  const std::size_t end = text.find(kLine);
  if (!text.starts_with(kFile) || end == std::string_view::npos) {
    return false;
  }
  std::string_view rest = text.substr(end + kLine.size());
  const auto line = id_of(take_word(rest));
  if (!line || take_word(rest) != "in") {
    return false;
  }
  frame.name = trimmed(rest);
  frame.file = text.substr(kFile.size(), end - kFile.size());
  frame.line = *line;
  return !frame.name.empty();
}

// Methods in which a thread waits though Java says that it runs.
bool waits_in(std::string_view method) {
  const bool accepts = method.ends_with("accept0") && method.find("Socket") != method.npos;
  return method.find("epollWait") != std::string_view::npos || method.ends_with("socketAccept") ||
         method.ends_with("socketRead0") || accepts;
}

// The first line of a thread of jstack, `"NAME" ...`.
StackLine line_of_java_thread(std::string_view text) {
  constexpr std::string_view kBackground[] = {"CompilerThread", "Signal Dispatcher",
                                              "Service Thread", "Attach Listener"};
  StackLine line;
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos) {
    return line;
  }
  line.kind = LineKind::kBegin;
  line.root = text.substr(1, end - 1);
  const bool is_background =
      std::any_of(std::begin(kBackground), std::end(kBackground),
                  [&](std::string_view name) { return line.root.find(name) != line.root.npos; });
  line.event = is_background ? kWaiting : kSamples;
  const std::size_t dash = line.root.rfind('-');
  if (dash != std::string_view::npos && is_digits(line.root.substr(dash + 1))) {
    line.root = line.root.substr(0, dash);
  }
  return line;
}

// `PID 7 - program`, `TID 9:`.
bool take_elfutils_id(std::string_view text, StackLine& line) {
  if (!text.starts_with("PID ") && !text.starts_with("TID ")) {
    return false;
  }
  std::string_view rest = text.substr(4);
  std::string_view word = take_word(rest);
  word.remove_suffix(word.ends_with(':') ? 1 : 0);
  const auto id = id_of(word);
  (text.starts_with("PID ") ? line.pid : line.tid) = id.value_or(kUnknownId);
  return id.has_value();
}

bool take_frame(std::string_view text, TextFrame& frame) {
  return text.starts_with('#') ? take_numbered(text, frame)
                               : take_java(text, frame) || take_python(text, frame);
}

// Lines within a thread of jstack that are no frames.
bool is_java_detail(std::string_view text) {
  return text.starts_with("- ") || text.starts_with("Locked ownable");
}

}  // namespace

StackLine read_backtrace_line(std::string_view text, LineState& state) {
  constexpr std::string_view kState = "java.lang.Thread.State: ";
  const bool is_indented = text.starts_with(' ') || text.starts_with('\t');
  text = trimmed(text);
  StackLine line;
  if (take_frame(text, line.frame)) {
    line.kind = LineKind::kFrame;
    line.is_first = text.starts_with("#0 ");
    line.event =
        text.starts_with("at ") && waits_in(line.frame.name) ? kWaiting : std::string_view();
  } else if (text.starts_with('"')) {
    line = line_of_java_thread(text);
  } else if (take_elfutils_id(text, line) || text.starts_with("Thread ") ||
             text.starts_with("Current thread ")) {
    line.kind = LineKind::kBegin;
  } else if (text.starts_with(kState)) {
    line.kind = LineKind::kHeader;
    line.event = text.substr(kState.size()).starts_with("RUNNABLE") ? std::string_view() : kWaiting;
  } else if (is_indented || is_java_detail(text)) {
    line.kind = LineKind::kHeader;  // the rest of a long line
  } else if (state.frames != 0) {
    line = end_of(kOne);
  } else {
    line.kind = text.empty() ? LineKind::kHeader : LineKind::kOther;
  }
  return line;
}

}  // namespace stackpack::stacks
