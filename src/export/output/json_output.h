#pragma once

#include <string_view>

#include <rapidjson/writer.h>

#include "core/throwing_allocator.h"
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

using JsonWriter =
    rapidjson::Writer<JsonStream, rapidjson::UTF8<>, rapidjson::UTF8<>, core::ThrowingAllocator>;

inline void write_key(JsonWriter& json, std::string_view key) {
  json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}
inline void write_text(JsonWriter& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

}  // namespace stackpack::exporting
