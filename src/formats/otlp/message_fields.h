// Field numbers of OpenTelemetry's ProfilesData which the reader understands, package
// opentelemetry.proto.profiles.v1development of its protocol 1.10 and later. What earlier releases
// had instead has numbers from kFirstEarlierField on, which no release gave it: message_layout.h
// turns theirs into these. Source: https://github.com/open-telemetry/opentelemetry-proto
#pragma once

#include <cstdint>

namespace stackpack::otlp {

inline constexpr std::uint32_t kFirstEarlierField = 1001;

enum ProfilesDataField : std::uint32_t { kResourceProfiles = 1, kDictionary = 2 };
enum DictionaryField : std::uint32_t {
  kMappingTable = 1,
  kLocationTable = 2,
  kFunctionTable = 3,
  kLinkTable = 4,
  kStringTable = 5,
  kAttributeTable = 6,
  kStackTable = 7,
  kAttributeUnits = kFirstEarlierField,
};
enum ResourceProfilesField : std::uint32_t {
  kResource = 1,
  kScopeProfiles = 2,
  kResourceSchema = 3,
};
enum ResourceField : std::uint32_t { kResourceAttribute = 1 };
enum KeyValueField : std::uint32_t { kKeyText = 1, kKeyValue = 2, kKeyIndex = 3 };
enum ScopeProfilesField : std::uint32_t { kScope = 1, kProfile = 2, kScopeSchema = 3 };
enum ScopeField : std::uint32_t { kScopeName = 1, kScopeVersion = 2, kScopeAttribute = 3 };
enum ProfileField : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kTimeUnixNano = 3,
  kDurationNano = 4,
  kPeriodType = 5,
  kPeriod = 6,
  kProfileId = 7,
  kDroppedAttributes = 8,
  kPayloadFormat = 9,
  kOriginalPayload = 10,
  kProfileAttribute = 11,
  kLocationIndices = kFirstEarlierField,
  kDefaultType,
  kComment,
};
enum ValueTypeField : std::uint32_t { kTypeText = 1, kTypeUnit = 2 };
enum SampleField : std::uint32_t {
  kSampleStack = 1,
  kSampleAttribute = 2,
  kSampleLink = 3,
  kSampleValue = 4,
  kSampleTime = 5,
  kSampleStart = kFirstEarlierField,  ///< of a range of kLocationIndices
  kSampleLength,
};
enum MappingField : std::uint32_t {
  kMappingStart = 1,
  kMappingOffset = 3,
  kMappingFile = 4,
  kMappingAttribute = 5,
};
enum LocationField : std::uint32_t {
  kLocationMapping = 1,
  kLocationAddress = 2,
  kLocationLine = 3,
  kLocationAttribute = 4,
};
enum LineField : std::uint32_t { kLineFunction = 1, kLineNumber = 2 };
enum FunctionField : std::uint32_t {
  kFunctionName = 1,
  kFunctionSystemName = 2,
  kFunctionFile = 3,
  kFunctionStartLine = 4,
};
enum StackField : std::uint32_t { kStackLocation = 1 };
enum LinkField : std::uint32_t { kTraceId = 1, kSpanId = 2 };
enum AttributeField : std::uint32_t { kAttributeKey = 1, kAttributeValue = 2, kAttributeUnit = 3 };
enum AttributeUnitField : std::uint32_t { kUnitKey = 1, kUnitText = 2 };
enum AnyValueField : std::uint32_t {
  kTextValue = 1,
  kBoolValue = 2,
  kNumberValue = 3,
  kRealValue = 4,
  kListOfValues = 5,
  kMapOfValues = 6,
  kBytesValue = 7,
  kTextIndexValue = 8,
};
enum ListField : std::uint32_t { kListValue = 1 };  // of a map as well

}  // namespace stackpack::otlp
