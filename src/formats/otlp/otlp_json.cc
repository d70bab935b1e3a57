#include "formats/otlp/otlp_json.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include <rapidjson/reader.h>

#include "capture/json_stream.h"
#include "core/throwing_allocator.h"
#include "formats/otlp/message_fields.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::otlp {

namespace {

constexpr std::size_t kMostDepth = 64;

enum class Part : std::uint8_t {
  kNone,
  kProfilesData,
  kDictionary,
  kMapping,
  kLocation,
  kLine,
  kFunction,
  kAttribute,
  kAnyValue,
  kStack,
  kResourceProfiles,
  kResource,
  kKeyValue,
  kScopeProfiles,
  kProfile,
  kValueType,
  kSample,
};

enum class Kind : std::uint8_t { kMessage, kNumber, kFixed, kText };

struct Member {
  std::string_view name;  // in lower case, without underscores
  std::uint32_t number = 0;
  Part of = Part::kNone;
  Kind kind = Kind::kNumber;
  Part part = Part::kNone;  // of a message
};

constexpr Member kMembers[] = {
    {"resourceprofiles", kResourceProfiles, Part::kProfilesData, Kind::kMessage,
     Part::kResourceProfiles},
    {"dictionary", kDictionary, Part::kProfilesData, Kind::kMessage, Part::kDictionary},
    {"mappingtable", kMappingTable, Part::kDictionary, Kind::kMessage, Part::kMapping},
    {"locationtable", kLocationTable, Part::kDictionary, Kind::kMessage, Part::kLocation},
    {"functiontable", kFunctionTable, Part::kDictionary, Kind::kMessage, Part::kFunction},
    {"stringtable", kStringTable, Part::kDictionary, Kind::kText},
    {"attributetable", kAttributeTable, Part::kDictionary, Kind::kMessage, Part::kAttribute},
    {"stacktable", kStackTable, Part::kDictionary, Kind::kMessage, Part::kStack},
    {"memorystart", kMappingStart, Part::kMapping},
    {"fileoffset", kMappingOffset, Part::kMapping},
    {"filenamestrindex", kMappingFile, Part::kMapping},
    {"attributeindices", kMappingAttribute, Part::kMapping},
    {"mappingindex", kLocationMapping, Part::kLocation},
    {"address", kLocationAddress, Part::kLocation},
    {"lines", kLocationLine, Part::kLocation, Kind::kMessage, Part::kLine},
    {"functionindex", kLineFunction, Part::kLine},
    {"line", kLineNumber, Part::kLine},
    {"namestrindex", kFunctionName, Part::kFunction},
    {"systemnamestrindex", kFunctionSystemName, Part::kFunction},
    {"filenamestrindex", kFunctionFile, Part::kFunction},
    {"startline", kFunctionStartLine, Part::kFunction},
    {"keystrindex", kAttributeKey, Part::kAttribute},
    {"value", kAttributeValue, Part::kAttribute, Kind::kMessage, Part::kAnyValue},
    {"stringvalue", kTextValue, Part::kAnyValue, Kind::kText},
    {"intvalue", kNumberValue, Part::kAnyValue},
    {"locationindices", kStackLocation, Part::kStack},
    {"resource", kResource, Part::kResourceProfiles, Kind::kMessage, Part::kResource},
    {"scopeprofiles", kScopeProfiles, Part::kResourceProfiles, Kind::kMessage,
     Part::kScopeProfiles},
    {"attributes", kResourceAttribute, Part::kResource, Kind::kMessage, Part::kKeyValue},
    {"key", kKeyText, Part::kKeyValue, Kind::kText},
    {"value", kKeyValue, Part::kKeyValue, Kind::kMessage, Part::kAnyValue},
    {"profiles", kProfile, Part::kScopeProfiles, Kind::kMessage, Part::kProfile},
    {"sampletype", kSampleType, Part::kProfile, Kind::kMessage, Part::kValueType},
    {"samples", kSample, Part::kProfile, Kind::kMessage, Part::kSample},
    {"timeunixnano", kTimeUnixNano, Part::kProfile, Kind::kFixed},
    {"periodtype", kPeriodType, Part::kProfile, Kind::kMessage, Part::kValueType},
    {"period", kPeriod, Part::kProfile},
    {"attributeindices", kProfileAttribute, Part::kProfile},
    {"typestrindex", kTypeText, Part::kValueType},
    {"unitstrindex", kTypeUnit, Part::kValueType},
    {"stackindex", kSampleStack, Part::kSample},
    {"attributeindices", kSampleAttribute, Part::kSample},
    {"linkindex", kSampleLink, Part::kSample},
    {"values", kSampleValue, Part::kSample},
    {"timestampsunixnano", kSampleTime, Part::kSample, Kind::kFixed},
};

// Writes fields as their members come. A message waits until it is whole, as its length is first.
class Transcoder {
 public:
  using Ch = char;

  [[nodiscard]] std::string& message() { return message_; }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  // Numbers come as texts, as the members of 64 bits do.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return scalar({text, size});
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return scalar({text, size});
  }
  static bool Null() { return true; }
  static bool Bool(bool /*value*/) { return true; }
  static bool Int(int /*value*/) { return false; }
  static bool Uint(unsigned /*value*/) { return false; }
  static bool Int64(std::int64_t /*value*/) { return false; }
  static bool Uint64(std::uint64_t /*value*/) { return false; }
  static bool Double(double /*value*/) { return false; }

  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    if (skipped_ == 0) {
      open_.back().member = member_of(open_.back().part, {text, size});
    }
    return true;
  }
  bool StartObject() {
    const Member* const member = open_.empty() ? nullptr : open_.back().member;
    if (open_.empty() && skipped_ == 0) {
      open_.push_back({Part::kProfilesData, nullptr, {}});
    } else if (skipped_ == 0 && member != nullptr && member->kind == Kind::kMessage) {
      open_.push_back({member->part, nullptr, {}});
    } else {
      ++skipped_;
    }
    return ++depth_ <= kMostDepth;
  }
  bool EndObject(rapidjson::SizeType /*members*/) {
    --depth_;
    if (skipped_ != 0) {
      --skipped_;
      return true;
    }
    const std::string bytes = std::move(open_.back().bytes);
    open_.pop_back();
    if (open_.empty()) {
      message_ = bytes;
      return true;
    }
    protozero::pbf_writer(open_.back().bytes).add_message(open_.back().member->number, bytes);
    return true;
  }
  bool StartArray() {
    const bool known = !open_.empty() && open_.back().member != nullptr;
    skipped_ += skipped_ != 0 || !known ? 1 : 0;
    return ++depth_ <= kMostDepth;
  }
  bool EndArray(rapidjson::SizeType /*elements*/) {
    --depth_;
    skipped_ -= skipped_ != 0 ? 1 : 0;
    return true;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  struct Open {
    Part part = Part::kNone;
    const Member* member = nullptr;  // the one whose value comes
    std::string bytes;
  };

  static const Member* member_of(Part part, std::string_view given) {
    std::string name;
    for (const char letter : given) {
      if (letter != '_') {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      }
    }
    const auto* const found = std::find_if(
        std::begin(kMembers), std::end(kMembers),
        [&](const Member& member) { return member.of == part && member.name == name; });
    return found == std::end(kMembers) ? nullptr : found;
  }

  // False: a number that is none.
  bool scalar(std::string_view text) {
    const Member* const member = skipped_ == 0 && !open_.empty() ? open_.back().member : nullptr;
    if (member == nullptr || member->kind == Kind::kMessage) {
      return true;
    }
    protozero::pbf_writer writer(open_.back().bytes);
    if (member->kind == Kind::kText) {
      writer.add_string(member->number, text.data(), text.size());
      return true;
    }
    const bool negative = text.starts_with('-');
    std::uint64_t value = 0;
    const std::string_view digits = text.substr(negative ? 1 : 0);
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
      return false;
    }
    value = negative ? 0 - value : value;
    if (member->kind == Kind::kFixed) {
      writer.add_fixed64(member->number, value);
    } else {
      writer.add_uint64(member->number, value);
    }
    return true;
  }

  std::string message_;
  std::vector<Open> open_;
  std::size_t skipped_ = 0;  // brackets that are open around what is not known
  std::size_t depth_ = 0;
};

}  // namespace

Result<std::string> message_of_json(io::ByteSource& source, std::uint64_t max_bytes) {
  if (source.size().value_or(0) > max_bytes) {
    return Error{ErrorCode::kLimit, 0, "otlp: a JSON text is larger than allowed"};
  }
  capture::JsonStream stream(source);
  Transcoder transcoder;
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, core::ThrowingAllocator> reader;
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag>(
          stream, transcoder);
  if (!stream.status()) {
    return stream.status().error();
  }
  if (result.IsError()) {
    return Error{ErrorCode::kCorrupt, result.Offset(), "otlp: not JSON of OpenTelemetry profiles"};
  }
  return std::move(transcoder.message());
}

}  // namespace stackpack::otlp
