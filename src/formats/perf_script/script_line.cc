#include "formats/perf_script/script_line.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace stackpack::perf_script {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kUnknown = "[unknown]";
constexpr std::uint64_t kNanoseconds = 1'000'000'000;
constexpr std::size_t kLeastLongDigits = 12;    // of an address in memory
constexpr std::size_t kMostPeriodColumns = 16;  // in front of an address of 16 columns
constexpr std::size_t kPeriodColumns = 10;      // in which perf right-aligns a period

// The next word of `rest`, which begins after it then.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

template <typename Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, base);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value)
                                                                        : std::nullopt;
}

// A thread that is gone is -1.
std::optional<std::uint32_t> id_of(std::string_view text) {
  return text == "-1" ? std::optional(kUnknownId) : number_of<std::uint32_t>(text);
}

// `columns`: of the word and the blanks before it. No thread has a number of so many.
bool take_ids(std::string_view word, std::size_t columns, SampleHead& head) {
  if (columns >= kPeriodColumns && word.find('/') == std::string_view::npos) {
    return false;
  }
  const std::size_t slash = word.find('/');
  const auto last = id_of(slash == std::string_view::npos ? word : word.substr(slash + 1));
  const auto first = slash == std::string_view::npos ? last : id_of(word.substr(0, slash));
  if (!first || !last) {
    return false;
  }
  head.pid = slash == std::string_view::npos ? kUnknownId : *first;
  head.tid = *last;
  return true;
}

bool take_processor(std::string_view word, SampleHead& head) {
  if (!word.starts_with('[') || !word.ends_with(']') || word.size() < 3) {
    return false;
  }
  const auto cpu = number_of<std::uint32_t>(word.substr(1, word.size() - 2));
  head.cpu = cpu.value_or(kUnknownId);
  return cpu.has_value();
}

// What a sample was taken in, K, U, H, G or g; what a record does, M, E, S or Sp.
bool is_misc(std::string_view word) {
  return !word.empty() && word.size() <= 3 &&
         word.find_first_not_of("KUHGgMESp") == std::string_view::npos;
}

bool is_guest(std::string_view word) {
  return word.starts_with("VM:") || word.starts_with("VCPU:");
}

// Seconds with 6 digits after the point, or with 9 (--ns). Simpleperf's report_sample.py leaves
// leading zeros of its microseconds out.
bool take_time(std::string_view word, SampleHead& head) {
  const std::size_t point = word.find('.');
  if (point == std::string_view::npos || !word.ends_with(':')) {
    return false;
  }
  const std::string_view fraction = word.substr(point + 1, word.size() - point - 2);
  const auto seconds = number_of<std::uint64_t>(word.substr(0, point));
  const auto parts = number_of<std::uint64_t>(fraction);
  if (!seconds || !parts || (fraction.size() > 6 && fraction.size() != 9) ||
      fraction.find_first_not_of(kDigits) != std::string_view::npos ||
      *seconds >= ~std::uint64_t{0} / kNanoseconds) {
    return false;
  }
  head.time_ns = *seconds * kNanoseconds + *parts * (fraction.size() <= 6 ? 1000 : 1);
  return true;
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

// `PID/TID VM:N VCPU:N [CPU] MISC` at the beginning of `rest`, which begins after it then. False:
// there is no id.
bool take_place(std::string_view& rest, std::size_t blanks, SampleHead& head) {
  std::string_view after = rest;
  const std::string_view first = take_word(after);
  const bool has_ids = take_ids(first, blanks + first.size(), head);
  if (has_ids) {
    rest = after;
  }
  for (std::string_view word = take_word(after);
       is_guest(word) || take_processor(word, head) || is_misc(word); word = take_word(after)) {
    rest = after;
  }
  return has_ids;
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

bool take_period(std::string_view& rest, SampleHead& head) {
  std::string_view after = rest;
  const std::string_view word = take_word(after);
  const auto period = number_of<std::uint64_t>(word);
  // An address has its column; periods are in front of it.
  if (!period || rest.size() - after.size() > kMostPeriodColumns) {
    return false;
  }
  head.period = *period;
  head.has_period = true;
  rest = after;
  return true;
}

// `EVENT: REST`. An event may have colons and, as tracepoints do not, blanks.
bool take_event(std::string_view rest, SampleHead& head) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  std::size_t end = rest.find(": ");
  if (end == std::string_view::npos && rest.ends_with(':')) {
    end = rest.size() - 1;
  }
  if (end == std::string_view::npos || end == 0) {
    return false;
  }
  head.event = rest.substr(0, end);
  head.rest = rest.substr(end + 1);
  return true;
}

// What follows the place, with a time.
bool take_timed(std::string_view rest, SampleHead& head) {
  const std::string_view time = take_word(rest);
  if (!take_time(time, head)) {
    return false;
  }
  head.other_record = trimmed(rest).starts_with("PERF_RECORD_");
  if (head.other_record) {
    return true;
  }
  const bool has_period = take_period(rest, head);
  if (take_event(rest, head)) {
    return true;
  }
  head.rest = rest;
  const std::string_view left = trimmed(rest);
  constexpr std::size_t kMicroseconds = std::string_view(".000000:").size();
  const bool is_whole = time.size() - time.find('.') >= kMicroseconds;
  return left.empty() ? is_whole || has_period || !head.comm.empty() || head.tid != kUnknownId
                      : parse_frame(left).has_value() || count_branches(left) != 0;
}

// The same without a time. The event is one word then.
bool take_untimed(std::string_view rest, SampleHead& head) {
  head.other_record = trimmed(rest).starts_with("PERF_RECORD_");
  if (head.other_record) {
    return true;
  }
  take_period(rest, head);
  std::string_view after = rest;
  const std::string_view word = take_word(after);
  return word.ends_with(':') && is_letter(word.front()) && take_event(rest, head) &&
         head.event.size() + 1 == word.size();
}

bool is_named_frame(std::string_view text) {
  constexpr std::size_t kLeastDigits = 4;
  const auto frame = parse_frame(text);
  return frame && frame->address >> (4 * (kLeastDigits - 1)) != 0 &&
         trimmed(text).find_first_of(kBlanks) != std::string_view::npos;
}

// Whether `rest` is the end of the line and an address in the columns that perf gives it, which no
// other field has as many of.
bool is_aligned_frame(std::string_view line, std::string_view rest) {
  const std::string_view frame = trimmed(rest);
  const std::string_view address = frame.substr(0, frame.find_first_of(kBlanks));
  const auto begin = static_cast<std::size_t>(frame.data() - line.data());
  const std::size_t last = line.substr(0, begin).find_last_not_of(kBlanks);
  return last != std::string_view::npos && begin + address.size() - last > kAddressColumns + 1 &&
         parse_frame(frame).has_value();
}

// `EVENT: ` ends a line, with the blank after which perf would write more.
bool take_last_event(std::string_view rest, SampleHead& head) {
  take_period(rest, head);
  const std::string_view word = trimmed(rest);
  return word.ends_with(':') && rest.ends_with(' ') && is_letter(word.front()) &&
         word.find_first_of(kBlanks) == std::string_view::npos && take_event(rest, head);
}

// Names of threads have blanks and numbers: the first words that are ids, and what `take` wants
// after them, end them.
template <typename Take>
std::optional<SampleHead> find_head(std::string_view line, bool needs_ids, Take take) {
  for (std::string_view rest = line;; take_word(rest)) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (rest.empty()) {
      return std::nullopt;
    }
    SampleHead head;
    const std::string_view before = line.substr(0, line.size() - rest.size());
    head.comm = trimmed(before);
    const std::size_t blanks = before.size() - (before.find_last_not_of(kBlanks) + 1);
    std::string_view after = rest;
    if ((take_place(after, blanks - (head.comm.empty() ? 0 : 1), head) || !needs_ids) &&
        take(after, head)) {
      return head;
    }
  }
}

// Where the parenthesis opens that is closed by the last character: files have parentheses, too,
// as in `(/tmp/a (deleted))`.
std::size_t opening_of(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += static_cast<std::size_t>(text[i] == ')');
    depth -= static_cast<std::size_t>(text[i] == '(');
    if (depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string_view without_offset(std::string_view name) {
  const std::size_t plus = name.rfind("+0x");
  return plus != std::string_view::npos && plus != 0 && is_hex(name.substr(plus + 3))
             ? name.substr(0, plus)
             : name;
}

// A branch begins with an address, which its image or a slash follows.
std::size_t find_branch(std::string_view text) {
  for (std::size_t at = text.find("0x"); at != std::string_view::npos;
       at = text.find("0x", at + 2)) {
    const std::size_t end = text.find_first_not_of(kHexDigits, at + 2);
    if ((at == 0 || kBlanks.find(text[at - 1]) != std::string_view::npos) &&
        end != std::string_view::npos && end != at + 2 && (text[end] == '/' || text[end] == '(')) {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool begins_with_number(std::string_view line) {
  std::string_view rest = line;
  const std::string_view word = take_word(rest);
  if (line.starts_with('\t') || word.find_first_not_of(kDigits) != std::string_view::npos) {
    return false;
  }
  const bool is_alone = trimmed(rest).empty() && line.size() - rest.size() <= kPeriodColumns;
  return is_alone || trimmed(rest).ends_with(':') || parse_flat_sample(line).has_value();
}

std::string_view last_location(std::string_view text) {
  // Each address is aligned to the right in columns of its own.
  std::size_t begin = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t before = rest.size();
    const std::string_view word = take_word(rest);
    if (is_hex(word) && before - rest.size() >= kAddressColumns && !rest.empty()) {
      begin = text.size() - before;
    }
  }
  return trimmed(text.substr(begin));
}

bool is_metric(std::string_view line) {
  return line.find("\tmetric: ") != std::string_view::npos;
}

std::string_view without_instruction(std::string_view line) {
  const auto cut = [&line](std::string_view title, std::string_view characters) {
    const std::size_t begin = line.rfind(title);
    if (begin != std::string_view::npos &&
        line.find_first_not_of(characters, begin + title.size()) == std::string_view::npos) {
      line = line.substr(0, begin);
    }
  };
  cut(" insn: ", "0123456789abcdef ");
  cut(" ilen: ", "0123456789 ");
  return line;
}

std::optional<SampleHead> parse_head(std::string_view line) {
  if (constexpr std::string_view kRecord = "PERF_RECORD_"; line.starts_with(kRecord)) {
    SampleHead head;
    head.other_record = true;
    return head;
  }
  if (!trimmed(line).ends_with(':') && line.find(": ") == std::string_view::npos &&
      line.find(":\t") == std::string_view::npos) {
    return std::nullopt;  // most lines are those of callstacks
  }
  std::optional<SampleHead> head = find_head(line, false, take_timed);
  return head ? head : find_head(line, true, take_untimed);
}

std::optional<SampleHead> parse_aligned_sample(std::string_view line) {
  if (line.starts_with('\t')) {
    return std::nullopt;  // a callstack's
  }
  auto head = find_head(line, false, [line](std::string_view rest, SampleHead& found) {
    if (!take_untimed(rest, found)) {
      take_period(rest, found);
      found.rest = rest;
    }
    return is_aligned_frame(line, found.rest);
  });
  return head ? head : find_head(line, false, take_last_event);
}

std::optional<SampleHead> parse_flat_sample(std::string_view line) {
  if (auto aligned = parse_aligned_sample(line)) {
    return aligned;
  }
  auto head = find_head(line, true, [](std::string_view rest, SampleHead& found) {
    take_period(rest, found);
    found.rest = rest;
    return is_named_frame(rest);
  });
  return head ? head : find_head(line, false, [](std::string_view rest, SampleHead& found) {
    return take_untimed(rest, found) && is_named_frame(found.rest);
  });
}

SampleHead parse_bare_head(std::string_view line) {
  auto head = find_head(line, true, [](std::string_view rest, SampleHead& found) {
    take_period(rest, found);
    return trimmed(rest).empty();
  });
  if (!head) {
    head = find_head(line, false, take_untimed);
  }
  if (!head) {
    head = find_head(line, false, [](std::string_view rest, SampleHead& found) {
      return take_period(rest, found) && trimmed(rest).empty();
    });
  }
  SampleHead name_only;
  name_only.comm = trimmed(line);
  return head.value_or(name_only);
}

std::optional<ScriptFrame> parse_frame(std::string_view text) {
  std::string_view rest = trimmed(text);
  const std::string_view address = take_word(rest);
  const auto number = is_hex(address) ? number_of<std::uint64_t>(address, 16) : std::nullopt;
  if (!number) {
    return std::nullopt;
  }
  ScriptFrame frame;
  frame.address = *number;
  rest = trimmed(rest);
  if (const std::size_t end = rest.find_first_not_of(kHexDigits);
      end != std::string_view::npos && end >= kLeastLongDigits && rest[end] == ' ') {
    return std::nullopt;  // the number of a thread, and an address
  }
  if (rest.ends_with(')')) {
    const std::size_t open = opening_of(rest);
    if (open != std::string_view::npos && (open == 0 || rest[open - 1] == ' ')) {
      frame.file = rest.substr(open + 1, rest.size() - open - 2);
      rest = trimmed(rest.substr(0, open));
    }
  }
  if (frame.file == "inlined") {
    frame.inlined = true;
    frame.file = {};
  }
  frame.file = without_offset(frame.file);  // -F +dsoff
  frame.file = frame.file == kUnknown ? std::string_view() : frame.file;
  rest = without_offset(rest);
  frame.name = rest == kUnknown ? std::string_view() : rest;
  frame.inlined = frame.inlined && !frame.name.empty();
  return frame;
}

std::optional<ScriptFrame> parse_traced_branch(std::string_view text) {
  const std::size_t arrow = text.find(" => ");
  std::string_view rest = trimmed(text.substr(0, std::min(arrow, text.size())));
  while (arrow != std::string_view::npos && !rest.empty()) {
    if (auto frame = parse_frame(rest)) {
      return frame;
    }
    take_word(rest);
    rest = trimmed(rest);
  }
  return std::nullopt;
}

std::optional<SourcePlace> parse_source_place(std::string_view text) {
  constexpr std::string_view kInlined = " (inlined)";
  SourcePlace place;
  place.inlined = text.ends_with(kInlined);
  text.remove_suffix(place.inlined ? kInlined.size() : 0);
  const std::size_t bracket = text.rfind('[');
  if (text.ends_with(']') && bracket != 0 &&
      is_hex(text.substr(bracket + 1, text.size() - bracket - 2))) {
    return place;
  }
  const std::size_t colon = text.rfind(':');
  const auto line = colon == std::string_view::npos
                        ? std::nullopt
                        : number_of<std::uint32_t>(text.substr(colon + 1));
  if (!line || (colon == 0 && *line != 0)) {
    return std::nullopt;
  }
  place.file = text.substr(0, colon);
  place.line = *line;
  return place;
}

std::uint64_t count_branches(std::string_view text) {
  std::uint64_t count = 0;
  for (std::size_t at = find_branch(text); at != std::string_view::npos; at = find_branch(text)) {
    ++count;
    text.remove_prefix(at + 2);
  }
  return count;
}

std::string_view before_branches(std::string_view text) {
  return trimmed(text.substr(0, std::min(find_branch(text), text.size())));
}

}  // namespace stackpack::perf_script
