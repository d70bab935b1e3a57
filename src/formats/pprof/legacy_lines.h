// Lines and numbers of texts.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackpack::pprof {

/// The text without white space at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

/// The number that all of the text is; nothing when it is none, or has more than 64 bits.
inline std::optional<std::uint64_t> number_of(std::string_view text, int base = 10) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && !text.empty()
             ? std::optional(number)
             : std::nullopt;
}

/// The lines of a text, one after another.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : rest_(text) {}

  /// False: there is none left.
  bool next() {
    if (rest_.empty()) {
      line_ = {};
      return false;
    }
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line_.ends_with('\r')) {
      line_.remove_suffix(1);
    }
    return true;
  }

  [[nodiscard]] std::string_view line() const { return line_; }
  /// What follows the line.
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  std::string_view line_;
};

}  // namespace stackpack::pprof
