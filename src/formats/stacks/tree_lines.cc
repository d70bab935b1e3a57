// Call trees: of macOS' sample, of pmcstat -G, and tables of VTune and Instruments.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "formats/stacks/stack_dialects.h"
#include "formats/stacks/stack_words.h"

namespace stackpack::stacks {

namespace {

// Where a thread waits, as stackcollapse-sample.awk has it.
bool waits(std::string_view function) {
  constexpr std::string_view kCalls[] = {
      "__psynch_cvwait",    "__select", "__semwait_signal", "__ulock_wait", "__wait4",
      "__workq_kernreturn", "kevent",   "mach_msg_trap",    "read",         "semaphore_wait_trap",
  };
  return std::find(std::begin(kCalls), std::end(kCalls), function) != std::end(kCalls);
}

void remove_ending(std::string_view& text, std::string_view ending) {
  text.remove_suffix(text.ends_with(ending) ? ending.size() : 0);
}

// `NAME  (in IMAGE) + 7  [0x1]`.
TextFrame frame_of_sample(std::string_view text) {
  constexpr std::string_view kIn = "  (in ";
  TextFrame frame;
  const std::size_t in = text.find(kIn);
  const std::size_t close = in == std::string_view::npos ? in : text.find(')', in);
  frame.name = trimmed(text.substr(0, text.find("  ")));
  if (close != std::string_view::npos) {
    frame.name = trimmed(text.substr(0, in));
    frame.image = text.substr(in + kIn.size(), close - in - kIn.size());
    remove_ending(frame.image, ".dylib");
    frame.joined = true;
  }
  return frame;
}

// The fields of a row; the one with names may have delimiters.
std::string_view field_of(std::string_view row, const LineState& state, std::size_t column) {
  const std::size_t after = state.columns - 1 - state.name_column;
  for (std::size_t i = 0; i < std::min(column, state.name_column); ++i) {
    row.remove_prefix(std::min(row.find(state.delimiter), row.size() - 1) + 1);
  }
  if (column < state.name_column) {
    return row.substr(0, row.find(state.delimiter));
  }
  for (std::size_t i = 0; i < after - (column - state.name_column); ++i) {
    row = row.substr(0, std::min(row.rfind(state.delimiter), row.size()));
  }
  return column == state.name_column ? row : row.substr(row.rfind(state.delimiter) + 1);
}

std::string_view unquoted(std::string_view text) {
  text.remove_prefix(text.starts_with('"') ? 1 : 0);
  text.remove_suffix(text.ends_with('"') ? 1 : 0);
  return text;
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// The first line of a table, with a column of names and one of weights.
bool take_columns(std::string_view row, LineState& state) {
  const char delimiter = row.find('\t') != std::string_view::npos ? '\t' : ',';
  bool has_names = false;
  bool has_weights = false;
  std::size_t column = 0;
  for (;; ++column) {
    const std::size_t end = row.find(delimiter);
    const std::string_view title = trimmed(unquoted(row.substr(0, end)));
    if (is_any_of(title, {"Function Stack", "Symbol Name", "Symbol Names"})) {
      state.name_column = column;
      has_names = true;
    } else if (title.ends_with(":Self") || is_any_of(title, {"Self", "Self Weight", "Self (ms)"})) {
      state.self_column = column;
      has_weights = true;
    } else if (title == "Module") {
      state.image_column = column;
    }
    if (end == std::string_view::npos) {
      break;
    }
    row.remove_prefix(end + 1);
  }
  state.columns = column + 1;
  state.delimiter = has_names && has_weights ? delimiter : '\0';
  return state.delimiter != '\0';
}

// Milliseconds of `0.032`, which are seconds, of `7.00 ms` and `2 s`; counts of `7`.
std::optional<core::DecimalWeight> milliseconds_of(std::string_view text) {
  std::string_view rest = unquoted(trimmed(text));
  const std::string_view number = take_word(rest);
  std::string_view unit = trimmed(rest);
  auto weight = core::parse_decimal(number);
  const bool is_seconds = unit.empty() && number.find('.') != std::string_view::npos;
  unsigned factor_digits = 0;
  if (is_seconds || unit == "s") {
    factor_digits = 3;
  } else if (!is_any_of(unit, {"", "ms"})) {
    return std::nullopt;
  }
  if (weight) {
    const unsigned from_decimals = std::min(factor_digits, weight->decimals);
    weight->decimals -= from_decimals;
    weight->digits = core::shifted(weight->digits, factor_digits - from_decimals);
  }
  return weight;
}

}  // namespace

StackLine read_sample_line(std::string_view text, LineState& state) {
  constexpr std::size_t kMargin = 4;
  constexpr std::string_view kDigits = "0123456789";
  StackLine line;
  const std::string_view words = trimmed(text);
  if (!state.inside) {
    line.kind = words == "Call graph:" ? LineKind::kBegin : LineKind::kHeader;
    return line;
  }
  const std::size_t number = text.find_first_of(kDigits);
  if (words.starts_with("Total number in stack")) {
    line.kind = LineKind::kEnd;
    return line;
  }
  if (number == std::string_view::npos || number < kMargin ||
      text.find_first_not_of(" +!:|") != number) {
    line.kind = words.empty() ? LineKind::kHeader : LineKind::kUnknown;
    return line;
  }
  std::string_view rest = text.substr(number);
  line.weight = core::parse_decimal(take_word(rest));
  line.kind = line.weight ? LineKind::kNode : LineKind::kUnknown;
  line.depth = (number - kMargin) / 2;
  line.frame = frame_of_sample(trimmed(rest));
  line.event = waits(line.frame.name) ? kWaiting : kSamples;
  return line;
}

StackLine read_pmc_line(std::string_view text, LineState& /*state*/) {
  StackLine line;
  std::string_view rest = text;
  const std::string_view share = take_word(rest);
  const std::string_view count = take_word(rest);
  if (!share.ends_with('%') || !core::parse_decimal(share.substr(0, share.size() - 1)) ||
      !count.starts_with('[') || !count.ends_with(']')) {
    line.kind = share.empty() || text.starts_with('@') ? LineKind::kHeader : LineKind::kUnknown;
    return line;
  }
  line.weight = core::parse_decimal(count.substr(1, count.size() - 2));
  line.depth = text.find_first_not_of(' ');
  line.frame.name = take_word(rest);
  rest = trimmed(rest);
  line.frame.image = rest.starts_with("@ ") ? rest.substr(2) : std::string_view();
  line.kind = line.weight && !line.frame.name.empty() ? LineKind::kNode : LineKind::kUnknown;
  return line;
}

StackLine read_table_line(std::string_view row, LineState& state) {
  StackLine line;
  if (state.delimiter == 0) {
    line.kind = take_columns(row, state) ? LineKind::kHeader : LineKind::kUnknown;
    return line;
  }
  const auto delimiters =
      static_cast<std::size_t>(std::count(row.begin(), row.end(), state.delimiter));
  if (delimiters + 1 < state.columns) {
    line.kind = trimmed(row).empty() ? LineKind::kHeader : LineKind::kUnknown;
    return line;
  }
  const std::string_view name = field_of(row, state, state.name_column);
  const std::string_view margin = name.substr(0, name.find_first_not_of(" \""));
  line.depth = static_cast<std::size_t>(std::count(margin.begin(), margin.end(), ' '));
  line.frame.name = unquoted(trimmed(unquoted(name)));
  if (state.image_column) {
    line.frame.image = trimmed(unquoted(field_of(row, state, *state.image_column)));
    line.frame.joined = true;
  }
  line.weight = milliseconds_of(field_of(row, state, state.self_column));
  line.kind = line.weight && !line.frame.name.empty() ? LineKind::kNode : LineKind::kUnknown;
  return line;
}

}  // namespace stackpack::stacks
