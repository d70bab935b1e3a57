#include "formats/otlp/attribute_value.h"

#include <bit>
#include <charconv>
#include <string_view>

#include "bytes/byte_text.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/message_walk.h"

namespace stackpack::otlp {

namespace {

constexpr unsigned kMostNested = 16;

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (code < 0x20) {
      out += "\\u";
      bytes::append_hex(out, code, 4);
    } else {
      out += letter;
    }
  }
  out += '"';
}

std::string text_of_real(std::uint64_t bits) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), std::bit_cast<double>(bits));
  return {digits, end.ptr};
}

bool append_json(protozero::pbf_reader message, unsigned depth, std::string& out);

bool append_list(protozero::pbf_reader list, unsigned depth, std::string& out) {
  bool good = true;
  out += '[';
  for (bool first = true; list.next();) {
    if (list.tag_and_type() != bytes(kListValue)) {
      list.skip();
      continue;
    }
    out += first ? "" : ",";
    first = false;
    good = append_json(list.get_message(), depth + 1, out) && good;
  }
  out += ']';
  return good;
}

bool append_member(protozero::pbf_reader entry, unsigned depth, std::string& out) {
  std::string key;
  std::string value = "null";
  bool good = true;
  while (entry.next()) {
    if (entry.tag_and_type() == bytes(kKeyText)) {
      key = entry.get_string();
    } else if (entry.tag_and_type() == bytes(kKeyValue)) {
      value.clear();
      good = append_json(entry.get_message(), depth, value);
    } else {
      good = good && entry.tag() != kKeyIndex;
      entry.skip();
    }
  }
  append_quoted(key, out);
  out += ':';
  out += value;
  return good;
}

bool append_map(protozero::pbf_reader map, unsigned depth, std::string& out) {
  bool good = true;
  out += '{';
  for (bool first = true; map.next();) {
    if (map.tag_and_type() != bytes(kListValue)) {
      map.skip();
      continue;
    }
    out += first ? "" : ",";
    first = false;
    good = append_member(map.get_message(), depth + 1, out) && good;
  }
  out += '}';
  return good;
}

AttributeValue read_value(protozero::pbf_reader message, unsigned depth);

// False: it goes too deep, or refers to a string of the dictionary.
bool append_json(protozero::pbf_reader message, unsigned depth, std::string& out) {
  if (depth > kMostNested) {
    return false;
  }
  const protozero::pbf_reader whole = message;
  bool is_json = false;  // a list or a map is JSON already
  while (message.next()) {
    is_json = message.tag() == kListOfValues || message.tag() == kMapOfValues;
    message.skip();
  }
  const AttributeValue value = read_value(whole, depth);
  switch (value.type) {
    case AttributeType::kText:
      is_json ? static_cast<void>(out += value.text) : append_quoted(value.text, out);
      return true;
    case AttributeType::kBool:
      out += value.number != 0 ? "true" : "false";
      return true;
    case AttributeType::kInteger:
      out += std::to_string(static_cast<std::int64_t>(value.number));
      return true;
    case AttributeType::kReal:
      out += text_of_real(value.number);
      return true;
    default:
      out += "null";
      return value.type == AttributeType::kNone;
  }
}

AttributeValue read_value(protozero::pbf_reader message, unsigned depth) {
  AttributeValue value;
  const auto is = [&value](AttributeType type, std::uint64_t number, std::string text) {
    value = {type, number, std::move(text)};
  };
  while (message.next()) {
    std::string json;
    bool good = true;
    switch (message.tag_and_type()) {
      case bytes(kTextValue):
        is(AttributeType::kText, 0, message.get_string());
        break;
      case number(kBoolValue):
        is(AttributeType::kBool, message.get_uint64() != 0 ? 1 : 0, {});
        break;
      case number(kNumberValue):
        is(AttributeType::kInteger, message.get_uint64(), {});
        break;
      case fixed(kRealValue):
        is(AttributeType::kReal, message.get_fixed64(), {});
        break;
      case bytes(kListOfValues):
        good = append_list(message.get_message(), depth, json);
        is(good ? AttributeType::kText : AttributeType::kNone, 0, std::move(json));
        break;
      case bytes(kMapOfValues):
        good = append_map(message.get_message(), depth, json);
        is(good ? AttributeType::kText : AttributeType::kNone, 0, std::move(json));
        break;
      case bytes(kBytesValue):
        is(AttributeType::kText, 0, hex_of(message.get_string()));
        break;
      case number(kTextIndexValue):
        is(AttributeType::kTextIndex, message.get_uint64(), {});
        break;
      default:
        message.skip();
    }
  }
  return value;
}

}  // namespace

std::string hex_of(std::string_view content) {
  std::string digits;
  for (const char byte : content) {
    bytes::append_hex(digits, static_cast<unsigned char>(byte), 2);
  }
  return digits;
}

AttributeValue read_any_value(protozero::pbf_reader message) {
  return read_value(message, 0);
}

}  // namespace stackpack::otlp
