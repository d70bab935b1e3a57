#include "formats/stacks/map_json.h"

#include "core/rapid_json.h"

namespace stackpack::stacks {

namespace {

std::string_view text_of(const core::JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

// `@NAME[KEY]: COUNT`, a line each; a value that is no whole number has none.
void print_map(std::string_view name, const core::JsonValue& entries, std::string& text) {
  for (const auto& entry : entries.GetObject()) {
    text.append(name).append("[").append(text_of(entry.name)).append("]: ");
    text += entry.value.IsUint64() ? std::to_string(entry.value.GetUint64()) : "?";
    text += '\n';
  }
}

}  // namespace

bool print_message(std::string_view line, std::string& text) {
  text.clear();
  core::JsonDocument message;
  message.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      line.data(), line.size());
  if (message.HasParseError() || !message.IsObject()) {
    return false;
  }
  const auto type = message.FindMember("type");
  const auto data = message.FindMember("data");
  if (type == message.MemberEnd() || data == message.MemberEnd() || !type->value.IsString()) {
    return false;
  }
  if (text_of(type->value) == "map" && data->value.IsObject()) {
    for (const auto& map : data->value.GetObject()) {
      if (map.value.IsObject()) {
        print_map(text_of(map.name), map.value, text);
      }
    }
  }
  return true;
}

bool begins_as_map(std::string_view line) {
  return line.starts_with("{\"type\": \"map\", \"data\": {\"@") &&
         line.find("\": {\"\\n") != std::string_view::npos;
}

}  // namespace stackpack::stacks
