#include "query/function_pattern.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include <re2/re2.h>

#include "bytes/byte_text.h"
#include "bytes/hash.h"
#include "query/name_pattern.h"

namespace stackpack::query {

namespace {

using Fit = FunctionPattern::Fit;

char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string folded(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return folded(c); });
  return result;
}

bool has_capitals(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Where the bracket at `at` is closed; the end of the text when it is not.
std::size_t closing(std::string_view text, std::size_t at) {
  constexpr std::string_view kOpen = "(<[{";
  constexpr std::string_view kClose = ")>]}";
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (kOpen.find(text[i]) != std::string_view::npos) {
      ++depth;
    } else if (kClose.find(text[i]) != std::string_view::npos && i > 0 && text[i - 1] != '-' &&
               --depth == 0) {
      return i;
    }
  }
  return text.size() - 1;
}

/// Takes a name apart from its front.
class PlainName {
 public:
  explicit PlainName(std::string_view name) : name_(name) {}

  std::string take() {
    while (at_ < name_.size() && !ended_) {
      step();
    }
    return plain_.empty() ? std::string(name_) : std::move(plain_);
  }

 private:
  void step() {
    const char c = name_[at_];
    if (is_operator() && c != ' ') {
      copy_operator();
    } else if (c == ' ') {
      take_blank();
    } else if (c == '[' || c == '{') {
      copy_to(closing(name_, at_));
    } else if (c == '<') {
      take_angles();
    } else if (c == '(') {
      take_parentheses();
    } else {
      plain_ += c;
      ++at_;
    }
  }

  [[nodiscard]] bool is_operator() const {
    constexpr std::string_view kOperator = "operator";
    return plain_ == kOperator || plain_.ends_with("::operator");
  }

  // What came before is a return type; but for `operator new` and `operator<< <int>`.
  void take_blank() {
    if (is_operator()) {
      plain_ += name_[at_];
    } else if (!name_.substr(at_ + 1).starts_with('<')) {
      plain_.clear();
    }
    ++at_;
  }

  void copy_to(std::size_t last) {
    plain_ += name_.substr(at_, last + 1 - at_);
    at_ = last + 1;
  }

  void copy_operator() {
    const std::string_view rest = name_.substr(at_);
    const std::size_t end = rest.starts_with("()")
                                ? 2
                                : std::min(rest.find_first_not_of("<>=!+-*/%&|^~,[]"), rest.size());
    plain_ += rest.substr(0, std::max<std::size_t>(end, 1));
    at_ += std::max<std::size_t>(end, 1);
  }

  // Arguments of a template; of Rust the type that has the method.
  void take_angles() {
    const std::size_t last = closing(name_, at_);
    if (plain_.empty() || plain_.ends_with("::")) {
      copy_to(last);
    } else {
      at_ = last + 1;
    }
  }

  // The parameters end a name; (anonymous namespace), and of Go (*Type), are parts of one.
  void take_parentheses() {
    const std::size_t last = closing(name_, at_);
    const std::string_view rest = name_.substr(last + 1);
    if (rest.starts_with("::") || rest.starts_with('.')) {
      copy_to(last);
    } else {
      ended_ = !plain_.empty();
      at_ = last + 1;
    }
  }

  std::string_view name_;
  std::string plain_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

bool ends_with_parts(std::string_view name, std::string_view parts) {
  if (!name.ends_with(parts) || name.size() == parts.size()) {
    return false;
  }
  constexpr std::string_view kSeparators = ":./$!";
  return kSeparators.find(name[name.size() - parts.size() - 1]) != std::string_view::npos;
}

constexpr unsigned kIdDigits = 16;

// The digits of `id:0123456789abcdef`; empty: the text is none.
std::string id_of(std::string_view text) {
  constexpr std::string_view kPrefix = "id:";
  if (!text.starts_with(kPrefix)) {
    return {};
  }
  std::string digits = folded(text.substr(kPrefix.size()));
  const bool good =
      digits.size() == kIdDigits && digits.find_first_not_of(bytes::kLowerHex) == std::string::npos;
  return good ? digits : std::string();
}

// `libc` for libc.so.6.
std::string_view stem_of(std::string_view module) {
  return module.substr(0, module.find('.', 1));
}

bool is_expression(std::string_view text) {
  return text.size() > 2 && text.starts_with('/') && text.ends_with('/');
}

constexpr std::string_view kTooManySteps =
    "the regular expression between the slashes is too large (at most 2000 steps; docs/cli.md)";

// Why RE2 does not take an expression; the text lasts.
std::string_view problem_of(const re2::RE2& regex) {
  const bool is_number =
      regex.error_arg().size() == 2 && regex.error_arg()[1] >= '1' && regex.error_arg()[1] <= '9';
  switch (regex.error_code()) {
    case re2::RE2::ErrorBadEscape:
      return is_number ? "a regular expression here has no back references such as \\1"
                       : "the regular expression between the slashes has an unknown escape";
    case re2::RE2::ErrorBadPerlOp:
      return "a regular expression here has no look-around such as (?=...), and names groups as "
             "(?P<name>...)";
    case re2::RE2::ErrorRepeatSize:
      return "a regular expression here repeats at most 1000 times";
    case re2::RE2::ErrorBadUTF8:
      return "the regular expression between the slashes is not UTF-8";
    case re2::RE2::ErrorPatternTooLarge:
      return kTooManySteps;
    default:
      return "what is between the slashes is no regular expression";
  }
}

}  // namespace

class FunctionPattern::Expression {
 public:
  Expression(std::string_view text, bool folds_case)
      : regex_(re2::StringPiece(text.data(), text.size()), options(folds_case)) {}

  [[nodiscard]] Status check() const {
    if (!regex_.ok()) {
      return Error{ErrorCode::kUsage, kNoOffset, problem_of(regex_)};
    }
    if (regex_.ProgramSize() > kMostSteps) {
      return Error{ErrorCode::kUsage, kNoOffset, kTooManySteps};
    }
    return {};
  }

  [[nodiscard]] bool occurs_in(std::string_view name) const {
    return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), regex_);
  }

 private:
  static re2::RE2::Options options(bool folds_case) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_case_sensitive(!folds_case);
    return options;
  }

  re2::RE2 regex_;
};

/// How well lists of aliases fit, by list. Several threads may ask.
class FunctionPattern::ListFits {
 public:
  Fit of(const AliasList& list, const FunctionPattern& pattern) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [known, fresh] = fits_.try_emplace(list.texts, Fit::kNone);
    if (fresh) {
      for (const std::string& alias : *list.texts) {
        known->second = std::min(known->second, std::max(pattern.fit_function(alias), Fit::kWhole));
      }
    }
    return known->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::shared_ptr<const std::vector<std::string>>, Fit> fits_;
};

FunctionPattern::FunctionPattern() : list_fits_(std::make_unique<ListFits>()) {}
FunctionPattern::FunctionPattern(FunctionPattern&&) noexcept = default;
FunctionPattern& FunctionPattern::operator=(FunctionPattern&&) noexcept = default;
FunctionPattern::~FunctionPattern() = default;

std::string plain_function_name(std::string_view name) {
  return PlainName(name).take();
}

std::string function_id(std::string_view name, std::string_view module) {
  std::string key(module);
  key += '\0';
  key += name;
  std::string id;
  bytes::append_hex(id, bytes::xxh3_64(std::as_bytes(std::span(key))), kIdDigits);
  return id;
}

Result<FunctionPattern> FunctionPattern::parse(std::string_view text) {
  FunctionPattern pattern;
  pattern.text_ = text;
  pattern.id_ = id_of(text);
  pattern.folds_case_ = !has_capitals(text);
  std::string_view function = text;
  const bool begins_expression = text.size() > 2 && text.starts_with('/');
  const std::size_t mark = begins_expression ? std::string_view::npos : text.find('!');
  if (mark != std::string_view::npos && mark != 0 && mark + 1 < text.size()) {
    pattern.module_ = text.substr(0, mark);
    function.remove_prefix(mark + 1);
  }
  pattern.function_ = function;
  if (is_expression(function)) {
    pattern.expression_ = std::make_unique<const Expression>(
        function.substr(1, function.size() - 2), pattern.folds_case_);
    if (const Status checked = pattern.expression_->check(); !checked) {
      return checked.error();
    }
  }
  pattern.has_wildcards_ =
      !pattern.expression_ && function.find_first_of("*?") != std::string_view::npos;
  return pattern;
}

bool FunctionPattern::fits_module(std::string_view module) const {
  if (!module_) {
    return true;
  }
  const std::string name = folds_case_ ? folded(module) : std::string(module);
  return fits_pattern(name, *module_) || stem_of(name) == *module_;
}

Fit FunctionPattern::fit_function(std::string_view name) const {
  if (expression_) {
    return expression_->occurs_in(name) ? Fit::kWhole : Fit::kNone;
  }
  if (name == function_) {
    return Fit::kExact;
  }
  const std::string whole = folds_case_ ? folded(name) : std::string(name);
  const std::string plain = plain_function_name(whole);
  const std::string_view rest =
      whole.starts_with(function_) ? std::string_view(whole).substr(function_.size()) : "-";
  if (plain == function_ || rest.empty() || rest.front() == '(' || rest.front() == '<') {
    return Fit::kWhole;
  }
  if (ends_with_parts(plain, function_)) {
    return Fit::kEnd;
  }
  const bool fits =
      has_wildcards_ && (fits_pattern(whole, function_) || fits_pattern(plain, function_));
  return fits ? Fit::kWhole : Fit::kNone;
}

Fit FunctionPattern::fit(std::string_view name, std::string_view module) const {
  if (name == text_ || (!id_.empty() && function_id(name, module) == id_)) {
    return Fit::kExact;
  }
  if (!id_.empty()) {
    return Fit::kNone;
  }
  return fits_module(module) ? fit_function(name) : Fit::kNone;
}

Fit FunctionPattern::fit(std::string_view name, std::string_view module,
                         std::span<const AliasList> aliases) const {
  Fit best = fit(name, module);
  if (!id_.empty() || !fits_module(module)) {
    return best;
  }
  for (const AliasList& list : aliases) {
    if (list.texts && best > Fit::kWhole) {
      best = std::min(best, list_fits_->of(list, *this));
    }
  }
  return best;
}

std::vector<bool> best_fits(std::span<const Fit> fits) {
  const auto best = std::min_element(fits.begin(), fits.end());
  std::vector<bool> meant;
  meant.reserve(fits.size());
  for (const Fit fit : fits) {
    meant.push_back(fit != Fit::kNone && fit == *best);
  }
  return meant;
}

}  // namespace stackpack::query
