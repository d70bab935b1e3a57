// Callstacks with a count in a line of its own: DTrace's, SystemTap's and BCC's.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "formats/stacks/stack_dialects.h"
#include "formats/stacks/stack_words.h"

namespace stackpack::stacks {

namespace {

// What the programs say before the first callstack.
bool is_header(std::string_view text) {
  constexpr std::string_view kBeginnings[] = {"dtrace: ",   "Sampling at ", "Tracing ", "Detaching",
                                              "Attaching ", "^C",           "Exiting",  "--"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [text](std::string_view begin) { return text.starts_with(begin); }) ||
         (text.starts_with("CPU ") && text.ends_with("FUNCTION:NAME"));
}

// `CPU ID FUNCTION:NAME` of a probe that fired.
bool is_fired_probe(std::string_view text) {
  const std::string_view cpu = take_word(text);
  const std::string_view id = take_word(text);
  const std::string_view probe = trimmed(text);
  return is_digits(cpu) && is_digits(id) && probe.find(':') != std::string_view::npos &&
         probe.find(' ') == std::string_view::npos;
}

// `-  COMM (PID)` of BCC, `COMM [PID]` of its stackcount.
bool take_owner(std::string_view text, StackLine& line) {
  const bool has_dash = text.starts_with("- ");
  const char closing = has_dash ? ')' : ']';
  const std::size_t open = text.rfind(has_dash ? '(' : '[');
  if (!text.ends_with(closing) || open == std::string_view::npos || open == 0 ||
      text[open - 1] != ' ') {
    return false;
  }
  const auto pid = id_of(text.substr(open + 1, text.size() - open - 2));
  line.comm = trimmed(text.substr(has_dash ? 1 : 0, open - (has_dash ? 1 : 0)));
  line.pid = pid.value_or(kUnknownId);
  return pid.has_value();
}

// A name of one word, or with what words of prose have not; an address in front is perf script's.
bool is_symbol(std::string_view text) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  const bool has_digits = word.find_first_of("0123456789") != std::string_view::npos;
  if (is_hex_digits(word) && (has_digits || !rest.empty())) {
    return false;
  }
  return text.find(' ') == std::string_view::npos ||
         text.find_first_of("`(<[") != std::string_view::npos ||
         text.find("::") != std::string_view::npos;
}

TextFrame frame_of(std::string_view text) {
  if (text.find('`') != std::string_view::npos) {
    return frame_of_tick(text);
  }
  TextFrame frame;
  if (text.starts_with("b'") && text.ends_with('\'') && text.size() > 3) {
    text = text.substr(2, text.size() - 3);  // as Python writes bytes
  }
  const std::size_t colon = text.find(" : ");
  if (text.starts_with("0x") && colon != std::string_view::npos) {  // SystemTap
    text = trimmed(text.substr(colon + 3));
    const std::size_t open = text.rfind(" [");
    if (text.ends_with(']') && open != std::string_view::npos) {
      frame.image = text.substr(open + 2, text.size() - open - 3);
      text = text.substr(0, open);
    }
  }
  frame.name = without_offset(text);
  return frame;
}

}  // namespace

StackLine read_counted_line(std::string_view text, LineState& /*state*/) {
  const std::string_view word = trimmed(text);
  StackLine line;
  if (word.empty() || is_header(word) || is_fired_probe(word)) {
    line.kind = LineKind::kHeader;
    line.event =
        word.find("off-CPU time (us)") != std::string_view::npos ? kOffCpu : std::string_view();
    return line;
  }
  if (is_digits(word)) {
    const auto weight = core::parse_decimal(word);
    return weight ? end_of(*weight) : line;
  }
  if (take_owner(word, line)) {
    line.kind = LineKind::kOwner;
    return line;
  }
  const bool is_indented = text.front() == ' ' || text.front() == '\t';
  const bool is_name = without_offset(word) != word || word.find('`') != std::string_view::npos ||
                       (is_indented && is_symbol(word));
  if (is_name) {
    line.kind = LineKind::kFrame;
    line.frame = frame_of(word);
  }
  return line;
}

}  // namespace stackpack::stacks
