#include "cli/checks.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "bytes/quoted.h"
#include "cli/exit_codes.h"

namespace stackpack::cli {

namespace {

std::string figure_text(double value) {
  constexpr double kExactIntegers = 9e15;
  return value == static_cast<double>(static_cast<std::int64_t>(value)) && value < kExactIntegers
             ? fmt::format("{}", static_cast<std::int64_t>(value))
             : fmt::format("{:.6g}", value);
}

}  // namespace

std::optional<std::vector<CheckExpression>> parse_checks(const CheckSubject& subject,
                                                         const std::vector<std::string>& texts,
                                                         const Messages& messages) {
  std::vector<CheckExpression> checks;
  for (const std::string& text : texts) {
    std::optional<CheckExpression> check = parse_check(text);
    if (!check) {
      messages.error("", fmt::format("{}: --check: {} is not KEY OP NUMBER, such as {}",
                                     subject.command, bytes::quoted(text), subject.example));
      return std::nullopt;
    }
    checks.push_back(std::move(*check));
  }
  return checks;
}

int apply_checks(const CheckSubject& subject, const std::vector<CheckExpression>& checks,
                 std::string_view json, const std::string& file, const Messages& messages) {
  if (checks.empty()) {
    return kExitSuccess;
  }
  const JsonFigures figures(json);
  int exit_code = kExitSuccess;
  for (const CheckExpression& check : checks) {
    std::optional<double> value = figures.find(check.key);
    if (!value && subject.is_absent_counter && subject.is_absent_counter(check.key)) {
      value = 0;
    }
    if (!value) {
      const std::string hint = subject.suggestion ? subject.suggestion(check.key) : std::string();
      messages.error(file, fmt::format("check: there is no number {} in {} --json{}",
                                       bytes::quoted(check.key), subject.command, hint));
      exit_code = std::max<int>(exit_code, kExitUsage);
    } else if (!holds(check, *value)) {
      messages.error(file, fmt::format("check failed: {} ({} is {})", check.text, check.key,
                                       figure_text(*value)));
      exit_code = std::max<int>(exit_code, kExitLossy);
    }
  }
  return exit_code;
}

}  // namespace stackpack::cli
