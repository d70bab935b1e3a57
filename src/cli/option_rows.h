// The options of a command as rows of data. The parser, --help, the man page, the completions and
// the tests that walk all options read these rows; nothing but option_parser.cc knows the library
// that parses.
#pragma once

#include <charconv>
#include <cstdint>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stackpack::cli {

/// A value that an option does not take. Its text names the option, the value and what would do.
class RefusedValue : public std::runtime_error {
 public:
  RefusedValue(const std::string& option, const std::string& text)
      : std::runtime_error(option + ": " + text) {}
};

/// One option, or one positional argument, of a command. `take` stores the value and lives as long
/// as what it refers to.
struct OptionRow {
  enum class Form : std::uint8_t {
    kFlag,           ///< takes no value
    kHelp,           ///< a flag that asks for the help text
    kValue,          ///< takes one value, once
    kRepeated,       ///< takes one value, and may be given several times
    kAllThatFollow,  ///< takes every value up to the next option
  };

  std::string names;  ///< "-o,--output", or a word without dashes for a positional argument
  Form form = Form::kFlag;
  std::string text;     ///< what it means
  std::string value;    ///< what follows it in help texts: FILE, a|b|c; empty for a flag
  std::string heading;  ///< its group in help texts
  std::string preset;   ///< the default in words; empty when there is none worth telling
  bool needed = false;
  const OptionRow* rival = nullptr;  ///< the option that it does not go with
  /// Takes the values in the order of the command line, at most one but for kRepeated and
  /// kAllThatFollow.
  /// Throws RefusedValue.
  std::function<void(const std::vector<std::string>&)> take;

  [[nodiscard]] bool positional() const { return !names.starts_with('-'); }
  /// The names one by one, short ones first; the one word of a positional argument.
  [[nodiscard]] std::vector<std::string> name_list() const;

  // Set a field and give the row back.
  OptionRow* type_name(std::string name);
  OptionRow* group(std::string_view name);
  /// Of an option for several values: one each time it is given.
  OptionRow* one_at_a_time();
  OptionRow* default_str(std::string words);
  OptionRow* required();
  OptionRow* excludes(const OptionRow* other);
  /// `problem` gives what is wrong with a value, or an empty text.
  OptionRow* check(std::function<std::string(const std::string&)> problem);
};

/// A command: its texts, and its rows in the order of their definition. A row stays where it is.
class CommandRow {
 public:
  CommandRow(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::deque<OptionRow>& options() const { return options_; }

  OptionRow* add_help(std::string names, std::string text);
  OptionRow* add_flag(std::string names, bool& given, std::string text);
  OptionRow* add_flag_callback(std::string names, std::function<void()> given, std::string text);
  OptionRow* add_option(std::string names, std::string& value, std::string text);
  /// Takes every value up to the next option, unless the row is told otherwise.
  OptionRow* add_option(std::string names, std::vector<std::string>& values, std::string text);
  /// A decimal number.
  template <typename T>
  OptionRow* add_option(const std::string& names, T& number, const std::string& text);
  OptionRow* add_option_function(std::string names, std::function<void(const std::string&)> take,
                                 std::string text);
  OptionRow* add_list_function(std::string names,
                               std::function<void(const std::vector<std::string>&)> take,
                               std::string text);

  /// `begin` runs before the values are taken and sets what the command's arguments begin with,
  /// `end` after them.
  void on_begin(std::function<void()> begin) { begin_ = std::move(begin); }
  void on_end(std::function<void()> end) { end_ = std::move(end); }
  void begin_values() const {
    if (begin_) {
      begin_();
    }
  }
  void end_values() const {
    if (end_) {
      end_();
    }
  }

 private:
  OptionRow* add(std::string names, OptionRow::Form form, std::string text,
                 std::function<void(const std::vector<std::string>&)> take);

  std::string name_;
  std::string summary_;
  std::deque<OptionRow> options_;
  std::function<void()> begin_;
  std::function<void()> end_;
};

/// A whole decimal number in all of `word`. Throws RefusedValue.
template <typename T>
T decimal_number(const std::string& option, std::string_view word) {
  T number{};
  const char* const end = word.data() + word.size();
  const auto [rest, failure] = std::from_chars(word.data(), end, number);
  if (failure != std::errc{} || rest != end) {
    throw RefusedValue(option, "'" + std::string(word) + "' is not a whole number from 0 on");
  }
  return number;
}

template <typename T>
OptionRow* CommandRow::add_option(const std::string& names, T& number, const std::string& text) {
  const std::string called = names.substr(names.find_last_of(',') + 1);
  return add(names, OptionRow::Form::kValue, text,
             [called, &number](const std::vector<std::string>& words) {
               number = decimal_number<T>(called, words.back());
             });
}

}  // namespace stackpack::cli
