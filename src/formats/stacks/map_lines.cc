// Maps of bpftrace whose keys have callstacks: `@NAME[`, lines of frames, `, KEY]: COUNT`.
#include <cstddef>
#include <string_view>

#include "formats/stacks/stack_dialects.h"
#include "formats/stacks/stack_words.h"

namespace stackpack::stacks {

namespace {

// Keys beside the callstack, without the commas between.
std::string_view keys_of(std::string_view text) {
  text = trimmed(text);
  while (text.starts_with(',') || text.ends_with(',')) {
    text = trimmed(text.starts_with(',') ? text.substr(1) : text.substr(0, text.size() - 1));
  }
  return text;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return text.find_first_not_of(kLetters) == std::string_view::npos;
}

// `NAME+31`; `ADDRESS NAME+31 (IMAGE)` of its mode "perf".
TextFrame frame_of_map(std::string_view text) {
  TextFrame frame;
  std::string_view rest = text;
  if (is_hex_digits(take_word(rest)) && !trimmed(rest).empty()) {
    text = trimmed(rest);
    const std::size_t open = text.rfind(" (");
    if (text.ends_with(')') && open != std::string_view::npos) {
      frame.image = text.substr(open + 2, text.size() - open - 3);
      text = text.substr(0, open);
    }
  }
  frame.name = without_offset(text);
  return frame;
}

bool is_around_maps(std::string_view text) {
  return text.empty() || text.starts_with("Attaching ") || text.starts_with("Attached ") ||
         text.starts_with("^C");
}

// `@NAME[` or, of a callstack without frames, `@NAME[]: COUNT` and `@NAME[, KEY]: COUNT`.
StackLine line_outside(std::string_view text) {
  StackLine line;
  line.kind = is_around_maps(text) ? LineKind::kHeader : LineKind::kOther;
  const std::size_t open = text.find('[');
  if (!text.starts_with('@') || open == std::string_view::npos ||
      !is_name(text.substr(1, open - 1))) {
    return line;
  }
  const std::size_t close = text.rfind("]: ");
  const bool is_whole = close != std::string_view::npos && close > open;
  if (is_whole && text[open + 1] != ',' && close != open + 1) {
    return line;  // a map without callstacks
  }
  line.kind = is_whole ? LineKind::kEnd : LineKind::kBegin;
  line.is_first = is_whole;
  line.weight = is_whole ? core::parse_decimal(trimmed(text.substr(close + 3))) : std::nullopt;
  line.event = open == 1 ? kSamples : text.substr(1, open - 1);
  line.root = keys_of(text.substr(open + 1, is_whole ? close - open - 1 : text.npos));
  return line;
}

}  // namespace

StackLine read_map_line(std::string_view text, LineState& state) {
  text = trimmed(text);
  if (!state.inside) {
    return line_outside(text);
  }
  StackLine line;
  const std::size_t close = text.rfind("]: ");
  const auto weight = close == std::string_view::npos
                          ? std::nullopt
                          : core::parse_decimal(trimmed(text.substr(close + 3)));
  if (close != std::string_view::npos) {
    line.kind = LineKind::kEnd;
    line.weight = weight;
    line.root = keys_of(text.substr(0, close));
  } else if (text.starts_with(',')) {
    line.kind = LineKind::kOwner;
    line.root = keys_of(text);
  } else if (text.empty()) {
    line.kind = LineKind::kHeader;
  } else {
    line.kind = LineKind::kFrame;
    line.frame = frame_of_map(text);
  }
  return line;
}

}  // namespace stackpack::stacks
