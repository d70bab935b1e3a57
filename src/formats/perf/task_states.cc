#include "formats/perf/task_states.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace stackpack::perf {

namespace {

constexpr std::size_t kMostStates = 32;

// An expression of numbers with | + - * << and parentheses, as the kernel's macros leave them.
class Expression {
 public:
  explicit Expression(std::string_view text) : text_(text) {}

  /// Nothing: it is something else.
  std::optional<std::uint64_t> value() {
    const std::uint64_t result = any(0);
    skip_spaces();
    return failed_ || !text_.empty() ? std::nullopt : std::optional(result);
  }

 private:
  void skip_spaces() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0) {
      text_.remove_prefix(1);
    }
  }

  bool take(std::string_view symbol) {
    skip_spaces();
    const bool there = text_.starts_with(symbol);
    text_.remove_prefix(there ? symbol.size() : 0);
    return there;
  }

  std::uint64_t number() {
    skip_spaces();
    const bool hex = text_.starts_with("0x") || text_.starts_with("0X");
    text_.remove_prefix(hex ? 2 : 0);
    std::uint64_t result = 0;
    const auto [end, failed] =
        std::from_chars(text_.data(), text_.data() + text_.size(), result, hex ? 16 : 10);
    failed_ = failed_ || failed != std::errc() || end == text_.data();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return result;
  }

  std::uint64_t one(unsigned depth) {
    constexpr unsigned kDeepest = 64;
    if (!take("(")) {
      return number();
    }
    if (depth == kDeepest) {
      failed_ = true;
      return 0;
    }
    const std::uint64_t result = any(depth + 1);
    failed_ = failed_ || !take(")");
    return result;
  }

  std::uint64_t product(unsigned depth) {
    std::uint64_t result = one(depth);
    while (!failed_ && take("*")) {
      result *= one(depth);
    }
    return result;
  }

  std::uint64_t sum(unsigned depth) {
    std::uint64_t result = product(depth);
    while (!failed_) {
      if (take("+")) {
        result += product(depth);
      } else if (take("-")) {
        result -= product(depth);
      } else {
        break;
      }
    }
    return result;
  }

  std::uint64_t shift(unsigned depth) {
    std::uint64_t result = sum(depth);
    while (!failed_ && take("<<")) {
      const std::uint64_t by = sum(depth);
      result = by < 64 ? result << by : 0;
    }
    return result;
  }

  std::uint64_t any(unsigned depth) {
    std::uint64_t result = shift(depth);
    while (!failed_ && take("|")) {
      result |= shift(depth);
    }
    return result;
  }

  std::string_view text_;
  bool failed_ = false;
};

// `{ 0x01, "S" }, { ...`
std::vector<std::pair<std::uint64_t, std::string>> states_in(std::string_view list) {
  std::vector<std::pair<std::uint64_t, std::string>> states;
  while (states.size() < kMostStates) {
    const std::size_t begin = list.find('{');
    if (begin == std::string_view::npos) {
      break;
    }
    list.remove_prefix(begin + 1);
    const std::size_t comma = list.find(',');
    const std::size_t quote = list.find('"');
    if (comma == std::string_view::npos || quote == std::string_view::npos || quote < comma) {
      break;
    }
    const std::size_t end = list.find('"', quote + 1);
    const std::optional<std::uint64_t> bit = Expression(list.substr(0, comma)).value();
    if (!bit || end == std::string_view::npos || end - quote > 8) {
      break;
    }
    states.emplace_back(*bit, std::string(list.substr(quote + 1, end - quote - 1)));
    list.remove_prefix(end + 1);
  }
  return states;
}

}  // namespace

TaskStates::TaskStates(std::string_view print_format) {
  constexpr std::string_view kFlags = "__print_flags(REC->prev_state & ";
  constexpr std::string_view kBar = ", \"|\",";
  constexpr std::string_view kRunning = ") : \"R\"";
  constexpr std::string_view kState = "REC->prev_state & ";
  constexpr std::string_view kPlus = " ? \"+\"";
  const std::size_t flags = print_format.find(kFlags);
  const std::size_t bar = print_format.find(kBar, flags == std::string_view::npos ? 0 : flags);
  const std::size_t running = print_format.find(kRunning, bar == std::string_view::npos ? 0 : bar);
  if (flags == std::string_view::npos || bar == std::string_view::npos ||
      running == std::string_view::npos) {
    return;
  }
  const std::size_t mask = flags + kFlags.size();
  const std::optional<std::uint64_t> value =
      Expression(print_format.substr(mask, bar - mask)).value();
  auto states = states_in(print_format.substr(bar + kBar.size(), running - bar - kBar.size()));
  if (!value || states.empty()) {
    return;
  }
  mask_ = *value;
  bits_ = std::move(states);
  std::sort(bits_.begin(), bits_.end());
  plus_ = 0;
  const std::size_t state = print_format.find(kState, running);
  const std::size_t plus = print_format.find(kPlus, running);
  if (state != std::string_view::npos && plus != std::string_view::npos && state < plus) {
    const std::size_t begin = state + kState.size();
    plus_ = Expression(print_format.substr(begin, plus - begin)).value().value_or(0);
  }
}

std::string TaskStates::letters(std::uint64_t state) const {
  std::string text;
  for (const auto& [bit, letter] : bits_) {
    if ((state & mask_ & bit) != 0) {
      text += text.empty() ? "" : "|";
      text += letter;
    }
  }
  return text.empty() ? "R" : text;
}

}  // namespace stackpack::perf
