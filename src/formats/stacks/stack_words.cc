#include "formats/stacks/stack_words.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace stackpack::stacks {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

bool is_hex_offset(std::string_view text) {
  return text.starts_with("0x") && is_hex_digits(text.substr(2));
}

// Functions of Rust end with `::h` and 16 digits.
std::string_view without_rust_hash(std::string_view name) {
  constexpr std::size_t kHashDigits = 16;
  const std::size_t at = name.rfind("::h");
  return at != std::string_view::npos && at != 0 && name.size() == at + 3 + kHashDigits &&
                 is_hex_digits(name.substr(at + 3))
             ? name.substr(0, at)
             : name;
}

// Template arguments and parameters begin after the first scope, and after a name.
std::string_view without_arguments(std::string_view name) {
  const std::size_t tick = name.find('`');
  const std::size_t scope = name.find("::", tick);
  const std::size_t from = scope == std::string_view::npos ? tick + 2 : scope + 2;
  const std::size_t open = name.find_first_of("(<", std::min(from, name.size()));
  return open == std::string_view::npos || name.substr(0, open).ends_with("operator")
             ? name
             : name.substr(0, open);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool is_hex_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

std::optional<std::uint32_t> id_of(std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value)
                                                                        : std::nullopt;
}

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::string_view without_offset(std::string_view name) {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string_view::npos || plus == 0) {
    return name;
  }
  const std::string_view offset = name.substr(plus + 1);
  const std::size_t slash = offset.find('/');
  const bool is_offset =
      is_digits(offset) ||
      (is_hex_offset(offset.substr(0, slash)) &&
       (slash == std::string_view::npos || is_hex_offset(offset.substr(slash + 1))));
  return is_offset ? name.substr(0, plus) : name;
}

TextFrame frame_of_tick(std::string_view text) {
  TextFrame frame;
  frame.linkage = without_offset(text);
  frame.image = frame.linkage.substr(0, frame.linkage.find('`'));
  frame.name = without_rust_hash(without_arguments(frame.linkage));
  if (frame.name == frame.linkage) {
    frame.linkage = {};
  }
  return frame;
}

StackLine end_of(const core::DecimalWeight& weight) {
  StackLine line;
  line.kind = LineKind::kEnd;
  line.weight = weight;
  return line;
}

}  // namespace stackpack::stacks
