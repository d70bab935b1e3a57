#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/diff/gate_amount.h"
#include "query/function_pattern.h"
#include "stackpack/diff.h"

namespace stackpack {

namespace {

/// What conditions can be about, and which amounts of it there are.
struct MeasureWord {
  std::string_view word;
  GateMeasure relative;  // of `+3%`
  GateMeasure absolute;  // of the other kind of amount
  bool is_cost;
};

constexpr std::array<MeasureWord, 7> kMeasures = {{
    {"share", GateMeasure::kShare, GateMeasure::kShare, false},
    {"relative", GateMeasure::kRelative, GateMeasure::kRelative, false},
    {"cpu", GateMeasure::kRelative, GateMeasure::kCost, true},
    {"blocked", GateMeasure::kRelative, GateMeasure::kCost, true},
    {"cycles", GateMeasure::kRelative, GateMeasure::kCost, true},
    {"instructions", GateMeasure::kRelative, GateMeasure::kCost, true},
    {"cost", GateMeasure::kRelative, GateMeasure::kCost, true},
}};
constexpr std::string_view kMeasureWords =
    "share, relative, cpu, blocked, cycles, instructions or cost";

struct Word {
  std::string_view text;
  std::size_t at = 0;
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) {
      break;
    }
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back({text.substr(begin, end - begin), begin});
    at = end;
  }
  return words;
}

const MeasureWord* measure_of(std::string_view word) {
  const auto found = std::find_if(kMeasures.begin(), kMeasures.end(),
                                  [word](const MeasureWord& known) { return known.word == word; });
  return found == kMeasures.end() ? nullptr : &*found;
}

class ConditionParser {
 public:
  ConditionParser(std::string_view text, std::string& problem, std::size_t& place)
      : text_(text), words_(words_of(text)), problem_(problem), place_(place) {
    condition_.text = app::without_blanks(text);
  }

  std::optional<GateCondition> parse() {
    if (words_.empty()) {
      problem_ = "it is empty; a condition is for example `total cpu +3%`";
      return std::nullopt;
    }
    for (const auto& part : {&ConditionParser::take_subject, &ConditionParser::take_measure,
                             &ConditionParser::take_amount, &ConditionParser::take_rest}) {
      if (!(this->*part)()) {
        return std::nullopt;
      }
    }
    return std::move(condition_);
  }

 private:
  [[nodiscard]] std::string_view word() const {
    return at_ < words_.size() ? words_[at_].text : std::string_view();
  }

  // The word at which the parser stands is not what it should be.
  bool wrong(std::string_view expected) {
    problem_ = at_ < words_.size()
                   ? fmt::format("word {}, `{}`: {}", at_ + 1, word(), expected)
                   : fmt::format("it ends after word {}: {}", words_.size(), expected);
    place_ = at_ < words_.size() ? words_[at_].at : text_.size();
    return false;
  }

  // `total`, `self`, `function [self|total] [of PATTERN]`; may be left out.
  bool take_subject() {
    if (word() == "function") {
      function_ = true;
      ++at_;
    }
    if (word() == "total" || word() == "self") {
      condition_.figure = word() == "self" ? GateFigure::kSelf : GateFigure::kTotal;
      ++at_;
    }
    if (!function_ || word() != "of") {
      return true;
    }
    // A pattern may have blanks: it ends in front of a measure with an amount.
    const std::size_t first = ++at_;
    while (at_ < words_.size() && !(measure_of(word()) != nullptr && at_ + 1 < words_.size() &&
                                    is_signed(words_[at_ + 1].text))) {
      ++at_;
    }
    if (at_ == words_.size()) {
      at_ = std::min(first, words_.size());
      return wrong("no measure with an amount, such as `cpu +5%`, after the pattern");
    }
    if (at_ == first) {
      return wrong("after `of` stands FUNCTION, MODULE!FUNCTION or MODULE!*");
    }
    return set_pattern(first, at_);
  }

  static bool is_signed(std::string_view word) {
    return word.starts_with('+') || word.starts_with('-');
  }

  bool set_pattern(std::size_t first, std::size_t end) {
    const std::size_t begin = words_[first].at;
    const std::size_t after = words_[end - 1].at + words_[end - 1].text.size();
    condition_.pattern = text_.substr(begin, after - begin);
    const auto pattern = query::FunctionPattern::parse(condition_.pattern);
    if (!pattern) {
      at_ = first;
      return wrong(pattern.error().what);
    }
    return true;
  }

  bool take_measure() {
    measure_ = measure_of(word());
    if (measure_ == nullptr) {
      return wrong(fmt::format("{} is possible here",
                               at_ == 0 ? fmt::format("total, self, function, {}", kMeasureWords)
                                        : std::string(kMeasureWords)));
    }
    if (measure_->is_cost) {
      condition_.cost_of = measure_->word;
      condition_.whole = !function_;
      if (!function_ && condition_.figure == GateFigure::kSelf) {
        at_ = 0;
        return wrong(fmt::format("the whole has no self: `total {0}`, or `function self {0}`",
                                 measure_->word));
      }
    }
    ++at_;
    return true;
  }

  bool take_amount() {
    const std::optional<app::GateAmount> amount =
        is_signed(word()) ? app::amount_of(word()) : std::nullopt;
    if (!amount || !fits_measure(*amount)) {
      return wrong(fmt::format("{} is possible here", amounts()));
    }
    condition_.measure = amount->kind;
    condition_.limit = amount->value;
    ++at_;
    return true;
  }

  [[nodiscard]] bool fits_measure(const app::GateAmount& amount) const {
    if (measure_->word == "share") {
      return amount.kind == GateMeasure::kShare;
    }
    if (!measure_->is_cost) {
      return amount.kind == GateMeasure::kRelative;
    }
    return amount.kind == GateMeasure::kRelative ||
           (amount.kind == GateMeasure::kCost && amount.of_time == is_time());
  }

  [[nodiscard]] bool is_time() const {
    return measure_->word == "cpu" || measure_->word == "blocked";
  }

  [[nodiscard]] std::string_view amounts() const {
    return measure_->word == "share" ? "an amount such as +0.5pp"
           : !measure_->is_cost      ? "an amount such as +10%"
           : is_time()               ? "an amount such as +5% or +50ms"
                                     : "an amount such as +5% or +10M";
  }

  // `from 1%`, `of PATTERN`.
  bool take_rest() {
    while (at_ < words_.size()) {
      if (word() == "from") {
        ++at_;
        const std::optional<app::GateAmount> least = app::amount_of(word());
        if (!least || least->kind != GateMeasure::kRelative || least->value < 0) {
          return wrong("after `from` stands a share such as 1%");
        }
        condition_.least = least->value;
        ++at_;
      } else if (word() == "of" && condition_.pattern.empty()) {
        ++at_;
        if (at_ == words_.size()) {
          return wrong("after `of` stands FUNCTION, MODULE!FUNCTION or MODULE!*");
        }
        if (!set_pattern(at_, words_.size())) {
          return false;
        }
        at_ = words_.size();
      } else {
        return wrong(condition_.pattern.empty()
                         ? "`from 1%`, `of PATTERN` or the end is possible here"
                         : "`from 1%` or the end is possible here");
      }
    }
    if (condition_.whole && (!condition_.pattern.empty() || condition_.least > 0)) {
      at_ = words_.size();
      return wrong(
          fmt::format("`of` and `from` go with functions: `function {} ...`", measure_->word));
    }
    return true;
  }

  std::string_view text_;
  std::vector<Word> words_;
  std::string& problem_;
  std::size_t& place_;
  std::size_t at_ = 0;
  bool function_ = false;
  const MeasureWord* measure_ = nullptr;
  GateCondition condition_;
};

// A line without its remark: a `#` at its beginning, or with blanks about it; names of lambdas have
// others.
std::string_view without_remark(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  line = app::without_blanks(line);
  for (std::size_t at = line.find('#'); at < line.size(); at = line.find('#', at + 1)) {
    const bool ends = at + 1 == line.size() || is_blank(line[at + 1]);
    if (at == 0 || (is_blank(line[at - 1]) && ends)) {
      return line.substr(0, at);
    }
  }
  return line;
}

/// Calls visit(line without its remark, its offset) for each line that says something.
template <typename Visit>
Status for_each_line(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = app::without_blanks(without_remark(text.substr(at, end - at)));
    const std::size_t begin = at;
    at = end + 1;
    if (line.empty()) {
      continue;
    }
    if (const Status visited = visit(line, begin); !visited) {
      return visited;
    }
  }
  return {};
}

}  // namespace

std::optional<app::GateAmount> app::amount_of(std::string_view word) {
  struct Unit {
    std::string_view name;
    GateMeasure kind;
    double size;
    bool of_time;
  };
  // Longer ones first: `ms` ends in `s`.
  constexpr std::array<Unit, 9> kUnits = {{{"pp", GateMeasure::kShare, 0.01, false},
                                           {"%", GateMeasure::kRelative, 0.01, false},
                                           {"ms", GateMeasure::kCost, 1e6, true},
                                           {"us", GateMeasure::kCost, 1e3, true},
                                           {"ns", GateMeasure::kCost, 1, true},
                                           {"s", GateMeasure::kCost, 1e9, true},
                                           {"k", GateMeasure::kCost, 1e3, false},
                                           {"M", GateMeasure::kCost, 1e6, false},
                                           {"G", GateMeasure::kCost, 1e9, false}}};
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [word](const Unit& known) { return word.ends_with(known.name); });
  GateAmount amount{GateMeasure::kCost, 1, false};
  if (unit != kUnits.end()) {
    amount = {unit->kind, unit->size, unit->of_time};
    word.remove_suffix(unit->name.size());
  }
  if (word.starts_with('+')) {
    word.remove_prefix(1);
    if (word.starts_with('-')) {
      return std::nullopt;
    }
  }
  double value = 0;
  const auto [rest, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = failure == std::errc() && rest == word.data() + word.size();
  amount.value *= value;
  return whole && std::isfinite(amount.value) ? std::optional(amount) : std::nullopt;
}

std::string_view app::without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

Result<AllowedChange> app::allowed_change_of(std::string_view line, std::size_t offset) {
  constexpr std::string_view kLimit = " up to ";
  AllowedChange change;
  change.text = line;
  change.pattern = line;
  if (const std::size_t limit = line.rfind(kLimit); limit != std::string_view::npos) {
    const std::string_view word = line.substr(limit + kLimit.size());
    const bool has_sign = word.starts_with('+') || word.starts_with('-');
    const std::optional<app::GateAmount> amount = has_sign ? app::amount_of(word) : std::nullopt;
    if (!amount) {
      return Error{ErrorCode::kCorrupt, offset,
                   "`up to` without an amount such as +2pp, +20% or +50ms"};
    }
    change.measure = amount->kind;
    change.limit = std::abs(amount->value);
    change.pattern = app::without_blanks(line.substr(0, limit));
  }
  return change;
}

std::optional<GateCondition> parse_gate_condition(std::string_view text, std::string* problem,
                                                  std::size_t* place) {
  std::string own;
  std::size_t own_place = 0;
  return ConditionParser(text, problem != nullptr ? *problem : own,
                         place != nullptr ? *place : own_place)
      .parse();
}

Result<std::vector<AllowedChange>> parse_allowed_changes(std::string_view text) {
  std::vector<AllowedChange> changes;
  const Status read = for_each_line(text, [&](std::string_view line, std::size_t offset) -> Status {
    auto change = app::allowed_change_of(line, offset);
    if (!change) {
      return change.error();
    }
    changes.push_back(std::move(*change));
    return {};
  });
  return read ? Result<std::vector<AllowedChange>>(std::move(changes)) : read.error();
}

}  // namespace stackpack
