#include "formats/otlp/otlp_json.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "capture/json_stream.h"
#include "core/rapid_json.h"
#include "formats/otlp/message_fields.h"
#include "formats/protobuf/code_entries.h"
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
  kList,
  kMap,
  kLink,
  kStack,
  kAttributeUnit,
  kResourceProfiles,
  kResource,
  kKeyValue,
  kScopeProfiles,
  kScope,
  kProfile,
  kValueType,
  kSample,
};

enum class Kind : std::uint8_t { kMessage, kNumber, kFixed, kReal, kText, kBytes };

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
    {"linktable", kLinkTable, Part::kDictionary, Kind::kMessage, Part::kLink},
    {"stringtable", kStringTable, Part::kDictionary, Kind::kText},
    {"attributetable", kAttributeTable, Part::kDictionary, Kind::kMessage, Part::kAttribute},
    {"stacktable", kStackTable, Part::kDictionary, Kind::kMessage, Part::kStack},
    {"attributeunits", kAttributeUnits, Part::kDictionary, Kind::kMessage, Part::kAttributeUnit},
    {"attributekeystrindex", kUnitKey, Part::kAttributeUnit},
    {"unitstrindex", kUnitText, Part::kAttributeUnit},
    {"memorystart", kMappingStart, Part::kMapping},
    {"fileoffset", kMappingOffset, Part::kMapping},
    {"filenamestrindex", kMappingFile, Part::kMapping},
    {"attributeindices", kMappingAttribute, Part::kMapping},
    {"mappingindex", kLocationMapping, Part::kLocation},
    {"address", kLocationAddress, Part::kLocation},
    {"lines", kLocationLine, Part::kLocation, Kind::kMessage, Part::kLine},
    {"line", kLocationLine, Part::kLocation, Kind::kMessage, Part::kLine},
    {"attributeindices", kLocationAttribute, Part::kLocation},
    {"functionindex", kLineFunction, Part::kLine},
    {"line", kLineNumber, Part::kLine},
    {"namestrindex", kFunctionName, Part::kFunction},
    {"systemnamestrindex", kFunctionSystemName, Part::kFunction},
    {"filenamestrindex", kFunctionFile, Part::kFunction},
    {"startline", kFunctionStartLine, Part::kFunction},
    {"keystrindex", kAttributeKey, Part::kAttribute},
    {"key", kAttributeKey, Part::kAttribute, Kind::kText},
    {"value", kAttributeValue, Part::kAttribute, Kind::kMessage, Part::kAnyValue},
    {"unitstrindex", kAttributeUnit, Part::kAttribute},
    {"stringvalue", kTextValue, Part::kAnyValue, Kind::kText},
    {"boolvalue", kBoolValue, Part::kAnyValue},
    {"intvalue", kNumberValue, Part::kAnyValue},
    {"doublevalue", kRealValue, Part::kAnyValue, Kind::kReal},
    {"arrayvalue", kListOfValues, Part::kAnyValue, Kind::kMessage, Part::kList},
    {"kvlistvalue", kMapOfValues, Part::kAnyValue, Kind::kMessage, Part::kMap},
    {"bytesvalue", kBytesValue, Part::kAnyValue, Kind::kBytes},
    {"stringvaluestrindex", kTextIndexValue, Part::kAnyValue},
    {"values", kListValue, Part::kList, Kind::kMessage, Part::kAnyValue},
    {"values", kListValue, Part::kMap, Kind::kMessage, Part::kKeyValue},
    {"traceid", kTraceId, Part::kLink, Kind::kBytes},
    {"spanid", kSpanId, Part::kLink, Kind::kBytes},
    {"locationindices", kStackLocation, Part::kStack},
    {"resource", kResource, Part::kResourceProfiles, Kind::kMessage, Part::kResource},
    {"scopeprofiles", kScopeProfiles, Part::kResourceProfiles, Kind::kMessage,
     Part::kScopeProfiles},
    {"schemaurl", kResourceSchema, Part::kResourceProfiles, Kind::kText},
    {"attributes", kResourceAttribute, Part::kResource, Kind::kMessage, Part::kKeyValue},
    {"key", kKeyText, Part::kKeyValue, Kind::kText},
    {"keystrindex", kKeyIndex, Part::kKeyValue},
    {"value", kKeyValue, Part::kKeyValue, Kind::kMessage, Part::kAnyValue},
    {"scope", kScope, Part::kScopeProfiles, Kind::kMessage, Part::kScope},
    {"schemaurl", kScopeSchema, Part::kScopeProfiles, Kind::kText},
    {"name", kScopeName, Part::kScope, Kind::kText},
    {"version", kScopeVersion, Part::kScope, Kind::kText},
    {"attributes", kScopeAttribute, Part::kScope, Kind::kMessage, Part::kKeyValue},
    {"profiles", kProfile, Part::kScopeProfiles, Kind::kMessage, Part::kProfile},
    {"sampletype", kSampleType, Part::kProfile, Kind::kMessage, Part::kValueType},
    {"samples", kSample, Part::kProfile, Kind::kMessage, Part::kSample},
    {"sample", kSample, Part::kProfile, Kind::kMessage, Part::kSample},
    {"locationindices", kLocationIndices, Part::kProfile},
    {"defaultsampletypeindex", kDefaultType, Part::kProfile},
    {"timenanos", kTimeUnixNano, Part::kProfile, Kind::kFixed},
    {"timeunixnano", kTimeUnixNano, Part::kProfile, Kind::kFixed},
    {"periodtype", kPeriodType, Part::kProfile, Kind::kMessage, Part::kValueType},
    {"period", kPeriod, Part::kProfile},
    {"profileid", kProfileId, Part::kProfile, Kind::kBytes},
    {"droppedattributescount", kDroppedAttributes, Part::kProfile},
    {"originalpayload", kOriginalPayload, Part::kProfile, Kind::kBytes},
    {"attributeindices", kProfileAttribute, Part::kProfile},
    {"typestrindex", kTypeText, Part::kValueType},
    {"unitstrindex", kTypeUnit, Part::kValueType},
    {"stackindex", kSampleStack, Part::kSample},
    {"locationsstartindex", kSampleStart, Part::kSample},
    {"locationslength", kSampleLength, Part::kSample},
    {"linkindex", kSampleLink, Part::kSample},
    {"attributeindices", kSampleAttribute, Part::kSample},
    {"value", kSampleValue, Part::kSample},
    {"values", kSampleValue, Part::kSample},
    {"timestampsunixnano", kSampleTime, Part::kSample, Kind::kFixed},
};

constexpr std::string_view kDigits64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Bytes in base64, with either alphabet of RFC 4648; nothing: the text is something else.
std::optional<std::string> bytes_of_base64(std::string_view text) {
  std::string content;
  std::uint32_t bits = 0;
  unsigned count = 0;
  text = text.substr(0, text.find_last_not_of('=') + 1);
  for (const char given : text) {
    const char letter = given == '-' ? '+' : given == '_' ? '/' : given;
    const std::size_t digit = kDigits64.find(letter);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xFFFFU;
    count += 6;
    if (count >= 8) {
      count -= 8;
      content += static_cast<char>(bits >> count & 0xFFU);
    }
  }
  return content;
}

// OTLP's JSON has the identities of traces and spans in hexadecimal digits, where that of protobuf
// would have base64, as it has other bytes. Neither 16 nor 8 bytes look the same in both.
std::optional<std::string> bytes_of(std::string_view text) {
  constexpr std::size_t kTraceDigits = 32;
  constexpr std::size_t kSpanDigits = 16;
  const bool is_hex = (text.size() == kTraceDigits || text.size() == kSpanDigits) &&
                      text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  if (!is_hex) {
    return bytes_of_base64(text);
  }
  std::string content;
  for (const std::uint8_t byte : protobuf::bytes_of_hex(text)) {
    content += static_cast<char>(byte);
  }
  return content;
}

std::optional<double> real_of(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "Infinity" || text == "-Infinity") {
    return text.front() == '-' ? -kInfinity : kInfinity;
  }
  if (text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ptr == end &&
                 (parsed.ec == std::errc() || parsed.ec == std::errc::result_out_of_range)
             ? std::optional(value)
             : std::nullopt;
}

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
  bool Bool(bool value) { return scalar(value ? "1" : "0"); }
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
    switch (member->kind) {
      case Kind::kText:
        writer.add_string(member->number, text.data(), text.size());
        return true;
      case Kind::kBytes: {
        const std::optional<std::string> content = bytes_of(text);
        writer.add_bytes(member->number, content.value_or(std::string()));
        return content.has_value();
      }
      case Kind::kReal: {
        const std::optional<double> value = real_of(text);
        writer.add_double(member->number, value.value_or(0));
        return value.has_value();
      }
      default:
        return write_number(writer, *member, text);
    }
  }

  static bool write_number(protozero::pbf_writer& writer, const Member& member,
                           std::string_view text) {
    const bool negative = text.starts_with('-');
    std::uint64_t value = 0;
    const std::string_view digits = text.substr(negative ? 1 : 0);
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
      return false;
    }
    value = negative ? 0 - value : value;
    if (member.kind == Kind::kFixed) {
      writer.add_fixed64(member.number, value);
    } else {
      writer.add_uint64(member.number, value);
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
  core::JsonReader reader;
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
