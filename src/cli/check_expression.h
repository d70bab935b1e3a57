#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stackpack::cli {

/// One condition of `stats --check`: `KEY OP NUMBER`.
struct CheckExpression {
  enum class Operator { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

  std::string text;  ///< as given
  std::string key;   ///< path in the object of stats --json, its parts joined by dots
  Operator op = Operator::kEqual;
  double number = 0;
};

/// Nothing when the text is no such condition. NUMBER may carry a unit of size.
std::optional<CheckExpression> parse_check(std::string_view text);

bool holds(const CheckExpression& check, double value);

/// Finds numbers in the object of stats --json by their path. An array is searched by the "name" of
/// its elements: events.cpu-clock.samples, sections.pages.stored_bytes.
class JsonFigures {
 public:
  /// `json` must be valid JSON of our own making.
  explicit JsonFigures(std::string_view json);
  JsonFigures(const JsonFigures&) = delete;
  JsonFigures& operator=(const JsonFigures&) = delete;
  ~JsonFigures();

  /// Nothing when the path leads to no number.
  [[nodiscard]] std::optional<double> find(std::string_view key) const;

 private:
  struct Document;
  std::unique_ptr<Document> document_;
};

}  // namespace stackpack::cli
