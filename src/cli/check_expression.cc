#include "cli/check_expression.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "cli/human_text.h"
#include "core/rapid_json.h"

namespace stackpack::cli {

namespace {

using Operator = CheckExpression::Operator;

// Longer ones first: `<` is the beginning of `<=`.
constexpr std::array<std::pair<std::string_view, Operator>, 6> kOperators = {{
    {"==", Operator::kEqual},
    {"!=", Operator::kNotEqual},
    {"<=", Operator::kLessEqual},
    {">=", Operator::kGreaterEqual},
    {"<", Operator::kLess},
    {">", Operator::kGreater},
}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc{} && end == text.data() + text.size()) {
    return number;
  }
  const std::optional<std::uint64_t> size = parse_size(text);
  return size ? std::optional(static_cast<double>(*size)) : std::nullopt;
}

using core::JsonDocument;
using core::JsonValue;

std::string_view name_text(const JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

// An array's element goes by its member "name".
std::optional<std::string_view> name_of(const JsonValue& element) {
  if (!element.IsObject()) {
    return std::nullopt;
  }
  const auto member = element.FindMember("name");
  return member != element.MemberEnd() && member->value.IsString()
             ? std::optional(name_text(member->value))
             : std::nullopt;
}

// What is left of `key` after `name`, which is its first part or several of them; names may hold
// dots themselves.
std::optional<std::string_view> rest_after(std::string_view key, std::string_view name) {
  if (!key.starts_with(name)) {
    return std::nullopt;
  }
  key.remove_prefix(name.size());
  if (key.empty()) {
    return key;
  }
  return key.front() == '.' ? std::optional(key.substr(1)) : std::nullopt;
}

std::optional<double> find_in(const JsonValue& value, std::string_view key) {
  if (key.empty()) {
    return value.IsNumber() ? std::optional(value.GetDouble()) : std::nullopt;
  }
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      if (const auto rest = rest_after(key, name_text(member.name))) {
        if (const auto found = find_in(member.value, *rest)) {
          return found;
        }
      }
    }
  } else if (value.IsArray()) {
    for (const JsonValue& element : value.GetArray()) {
      const std::optional<std::string_view> name = name_of(element);
      if (!name) {
        continue;
      }
      if (const auto rest = rest_after(key, *name)) {
        if (const auto found = find_in(element, *rest)) {
          return found;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<CheckExpression> parse_check(std::string_view text) {
  const std::size_t at = text.find_first_of("=!<>");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  CheckExpression check;
  check.text = std::string(text);
  check.key = std::string(trimmed(text.substr(0, at)));
  for (const auto& [spelling, op] : kOperators) {
    if (text.substr(at).starts_with(spelling)) {
      const auto number = parse_number(trimmed(text.substr(at + spelling.size())));
      if (check.key.empty() || !number) {
        return std::nullopt;
      }
      check.op = op;
      check.number = *number;
      return check;
    }
  }
  return std::nullopt;
}

bool holds(const CheckExpression& check, double value) {
  switch (check.op) {
    case Operator::kEqual:
      return value == check.number;
    case Operator::kNotEqual:
      return value != check.number;
    case Operator::kLess:
      return value < check.number;
    case Operator::kLessEqual:
      return value <= check.number;
    case Operator::kGreater:
      return value > check.number;
    case Operator::kGreaterEqual:
      return value >= check.number;
  }
  return false;
}

struct JsonFigures::Document {
  JsonDocument json;
};

JsonFigures::JsonFigures(std::string_view json) : document_(std::make_unique<Document>()) {
  document_->json.Parse(json.data(), json.size());
}

JsonFigures::~JsonFigures() = default;

std::optional<double> JsonFigures::find(std::string_view key) const {
  return key.empty() || document_->json.HasParseError() ? std::nullopt
                                                        : find_in(document_->json, key);
}

}  // namespace stackpack::cli
