#include "symbolize/maps/text_lines.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

#include "bytes/byte_text.h"

namespace stackpack::symbolize {

Result<std::optional<std::string_view>> TextLines::next() {
  bool passing_over = false;
  while (true) {
    const std::string_view text = bytes::text_of(reader_.buffered());
    const std::size_t end = text.substr(0, kMostBytes).find('\n');
    if (end == std::string_view::npos && text.size() < kMostBytes) {
      const Result<std::span<const std::byte>> window = reader_.peek(text.size() + 1);
      if (!window) {
        return window.error();
      }
      if (window->size() > text.size()) {
        continue;
      }
      if (text.empty()) {
        return std::optional<std::string_view>();
      }
    } else if (end == std::string_view::npos) {
      too_long_ += passing_over ? 0U : 1U;
      passing_over = true;
      reader_.consume(kMostBytes);
      continue;
    }
    std::string_view line = text.substr(0, end);
    reader_.consume(std::min(text.size(), line.size() + 1));
    if (passing_over) {
      passing_over = false;
      continue;
    }
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    return std::optional(line);
  }
}

std::string_view take_word(std::string_view& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto skip_blanks = [&] {
    text.remove_prefix(
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_blank) - text.begin()));
  };
  skip_blanks();
  const std::string_view word =
      text.substr(0, static_cast<std::size_t>(std::ranges::find_if(text, is_blank) - text.begin()));
  text.remove_prefix(word.size());
  skip_blanks();
  return word;
}

std::optional<std::uint64_t> hex_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, 16);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
    return std::nullopt;
  }
  return number;
}

}  // namespace stackpack::symbolize
