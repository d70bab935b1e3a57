#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bytes/utf8.h"
#include "cli/text_escape.h"
#include "core/rapid_json.h"
#include "core/weight_scale.h"

namespace stackpack::cli {

/// Writes JSON to the end of a string, value by value. The caller may drain the string at any time
/// between two calls, so memory does not grow with the document.
class JsonText {
 public:
  explicit JsonText(std::string& out) : stream_(out), writer_(stream_) {}

  void begin_object() { writer_.StartObject(); }
  void end_object() { writer_.EndObject(); }
  void begin_array() { writer_.StartArray(); }
  void end_array() { writer_.EndArray(); }
  void key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }

  void value(std::string_view text) {
    if (is_plain(text)) {
      writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
      return;
    }
    const std::string quoted = is_utf8(text) ? quoted_of(text) : quoted_of(bytes::valid_utf8(text));
    writer_.RawValue(quoted.data(), quoted.size(), rapidjson::kStringType);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) void value(T number) { writer_.Uint64(number); }
  void value(std::int64_t number) { writer_.Int64(number); }
  void value(bool flag) { writer_.Bool(flag); }
  void value(std::nullptr_t) { writer_.Null(); }
  /// Six significant digits or all digits before the point, whichever are more.
  void value(double number) {
    const std::string text = !std::isfinite(number)       ? "0"
                             : std::abs(number) < 100'000 ? fmt::format("{:.6g}", number)
                                                          : fmt::format("{:.0f}", number);
    writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
  }

  /// A number as JSON writes it.
  void number(std::string_view text) {
    writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
  }

  void value(const core::ScaledNumber& scaled) {
    number(core::decimal_text(scaled.digits, scaled.decimals));
  }

  /// An object that is text already.
  void object(std::string_view text) {
    writer_.RawValue(text.data(), text.size(), rapidjson::kObjectType);
  }

  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

 private:
  using Writer = core::JsonWriter<core::JsonTextStream>;

  // A text as a JSON string that is safe to show.
  static std::string quoted_of(std::string_view text) {
    std::string quoted;
    core::JsonTextStream stream(quoted);
    Writer writer(stream);
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return escape_json_controls(quoted);
  }
  // Printable ASCII, as nearly all names are.
  static bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  }

  core::JsonTextStream stream_;
  Writer writer_;
};

/// A JSON array with one element a line, for listings: valid JSON as a whole and handy for line
/// tools.
class JsonLines {
 public:
  explicit JsonLines(std::string& out) : out_(out) { out_ += '['; }

  /// What the next element is written with; a new one for each element.
  [[nodiscard]] JsonText element() {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    return JsonText(out_);
  }
  void end() { out_ += first_ ? "]\n" : "\n]\n"; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace stackpack::cli
