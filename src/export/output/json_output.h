#pragma once

#include <cstdint>
#include <string_view>

#include "core/rapid_json.h"
#include "export/output/export_output.h"

namespace stackpack::exporting {

/// Lets RapidJSON's streaming writer write to an ExportOutput.
class JsonStream {
 public:
  using Ch = char;
  explicit JsonStream(ExportOutput& out) : out_(out) {}
  // NOLINTBEGIN(readability-identifier-naming): names which RapidJSON asks for
  void Put(Ch c) { out_.put(c); }
  void Flush() {}
  // NOLINTEND(readability-identifier-naming)

 private:
  ExportOutput& out_;
};

using JsonWriter = core::JsonWriter<JsonStream>;

inline void write_key(JsonWriter& json, std::string_view key) {
  json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}
inline void write_text(JsonWriter& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

// A number as JSON has it.
inline void write_number(JsonWriter& json, std::string_view digits) {
  json.RawValue(digits.data(), digits.size(), rapidjson::kNumberType);
}

// Members of an object: the key, then the value.
inline void write_member(JsonWriter& json, std::string_view key, std::string_view value) {
  write_key(json, key);
  write_text(json, value);
}
inline void write_member(JsonWriter& json, std::string_view key, const char* value) {
  write_member(json, key, std::string_view(value));  // which bool would take
}
inline void write_member(JsonWriter& json, std::string_view key, std::uint64_t value) {
  write_key(json, key);
  json.Uint64(value);
}
inline void write_member(JsonWriter& json, std::string_view key, double value) {
  write_key(json, key);
  json.Double(value);
}
inline void write_member(JsonWriter& json, std::string_view key, bool value) {
  write_key(json, key);
  json.Bool(value);
}
inline void write_null_member(JsonWriter& json, std::string_view key) {
  write_key(json, key);
  json.Null();
}
inline void write_empty_list(JsonWriter& json, std::string_view key) {
  write_key(json, key);
  json.StartArray();
  json.EndArray();
}

}  // namespace stackpack::exporting
