// What a source gives to those who want payloads, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/payload_decoder.h"
#include "capture/payload_schema.h"
#include "support/collecting_sink.h"

namespace stackpack::test {

/// NAME:TYPE of each field: a letter and its size; [] counted, [=N] fixed, [#N] of a field, [@]
/// elsewhere; members in braces.
inline std::string schema_text(const capture::PayloadSchema& schema) {
  constexpr std::string_view kLetters = "suhprbvvccwtxgyfi";
  const auto extent = [](capture::PayloadExtent kind, std::uint32_t number) -> std::string {
    switch (kind) {
      case capture::PayloadExtent::kOne:
        return "";
      case capture::PayloadExtent::kPrefixed:
        return "[]";
      case capture::PayloadExtent::kFixed:
        return "[=" + std::to_string(number) + "]";
      case capture::PayloadExtent::kField:
        return "[#" + std::to_string(number) + "]";
      default:
        return "[@]";
    }
  };
  std::string text;
  for (const capture::PayloadField& field : schema) {
    text += (text.empty() ? "" : " ") + field.name;
    const auto type = static_cast<std::size_t>(field.type);
    if (type >= kLetters.size()) {
      text += "{" + schema_text(field.members) + "}";
    } else {
      constexpr std::string_view kWithoutSize = "pvwtxgyi";
      text += ':';
      text += kLetters[type];
      text += kWithoutSize.find(kLetters[type]) == std::string_view::npos
                  ? std::to_string(field.size)
                  : std::string();
    }
    text += extent(field.count, field.count_number) + extent(field.length, field.length_number);
  }
  return text;
}

/// A sink that wants one provider, and keeps `NAME PID TID FIELD=VALUE ...` of each of its events.
class PayloadReading : public CollectingSink, public capture::PayloadSink {
 public:
  explicit PayloadReading(std::string provider) : provider_(std::move(provider)) {}

  capture::PayloadSink* payloads() override { return this; }

  bool wants(std::string_view provider) override {
    asked.emplace_back(provider);
    return active && provider == provider_;
  }

  Status event(const capture::PayloadEvent& event) override {
    std::string line(event.name);
    line += ' ' + std::to_string(event.pid) + ' ' + std::to_string(event.tid);
    if (event.schema == nullptr || event.schema->empty()) {
      line += " ?";
    } else if (!decoder_.decode(*event.schema, event.payload, event.pointer_size)) {
      line += " !";
    }
    for (const capture::DecodedField& field : decoder_.fields()) {
      line += ' ' + field.name + '=';
      for (const capture::PayloadValue& value : field.values) {
        line += value.form == capture::PayloadValue::Form::kText ? value.text
                                                                 : std::to_string(value.bits);
        line += field.is_list ? "," : "";
      }
    }
    lines.push_back(line);
    return {};
  }

  std::vector<std::string> lines;
  std::vector<std::string> asked;
  bool active = true;

 private:
  std::string provider_;
  capture::PayloadDecoder decoder_;
};

}  // namespace stackpack::test
