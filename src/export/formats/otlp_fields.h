// Field numbers of OpenTelemetry's ProfilesData, package
// opentelemetry.proto.profiles.v1development, as released in 1.10 of its protocol, which gave
// Sample the numbers below (1.11 changed none of them). Source:
// https://github.com/open-telemetry/opentelemetry-proto
#pragma once

#include <bit>
#include <cstdint>

#include "export/formats/otlp_sample_fields.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::exporting::otlp {

namespace profiles_data {
inline constexpr std::uint32_t kResourceProfiles = 1;
inline constexpr std::uint32_t kDictionary = 2;
}  // namespace profiles_data

namespace dictionary {
inline constexpr std::uint32_t kMappingTable = 1;
inline constexpr std::uint32_t kLocationTable = 2;
inline constexpr std::uint32_t kFunctionTable = 3;
inline constexpr std::uint32_t kLinkTable = 4;
inline constexpr std::uint32_t kStringTable = 5;
inline constexpr std::uint32_t kAttributeTable = 6;
inline constexpr std::uint32_t kStackTable = 7;
/// Not part of the protocol: the experiment, a message of two arrays in place of the stack table.
inline constexpr std::uint32_t kStackTree = 1000;
}  // namespace dictionary

namespace stack_tree {
inline constexpr std::uint32_t kParentIndices = 1;
inline constexpr std::uint32_t kLocationIndices = 2;
}  // namespace stack_tree

namespace resource_profiles {
inline constexpr std::uint32_t kResource = 1;
inline constexpr std::uint32_t kScopeProfiles = 2;
inline constexpr std::uint32_t kSchema = 3;
}  // namespace resource_profiles

namespace resource {
inline constexpr std::uint32_t kAttributes = 1;
}  // namespace resource

namespace key_value {
inline constexpr std::uint32_t kKey = 1;
inline constexpr std::uint32_t kValue = 2;
}  // namespace key_value

namespace scope_profiles {
inline constexpr std::uint32_t kScope = 1;
inline constexpr std::uint32_t kProfiles = 2;
inline constexpr std::uint32_t kSchema = 3;
}  // namespace scope_profiles

namespace scope {
inline constexpr std::uint32_t kName = 1;
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint32_t kAttributes = 3;
}  // namespace scope

namespace profile {
inline constexpr std::uint32_t kSampleType = 1;
inline constexpr std::uint32_t kSamples = 2;
inline constexpr std::uint32_t kTimeUnixNano = 3;
inline constexpr std::uint32_t kDurationNano = 4;
inline constexpr std::uint32_t kPeriodType = 5;
inline constexpr std::uint32_t kProfileId = 7;
inline constexpr std::uint32_t kAttributeIndices = 11;
}  // namespace profile

namespace value_type {
inline constexpr std::uint32_t kType = 1;
inline constexpr std::uint32_t kUnit = 2;
}  // namespace value_type

namespace sample {
inline constexpr std::uint32_t kStackIndex = 1;
inline constexpr std::uint32_t kAttributeIndices = 2;
inline constexpr std::uint32_t kLinkIndex = 3;
inline constexpr std::uint32_t kValues = 4;
inline constexpr std::uint32_t kTimestamps = 5;
}  // namespace sample

namespace mapping {
inline constexpr std::uint32_t kMemoryStart = 1;
inline constexpr std::uint32_t kMemoryLimit = 2;
inline constexpr std::uint32_t kFileOffset = 3;
inline constexpr std::uint32_t kFilename = 4;
inline constexpr std::uint32_t kAttributeIndices = 5;
}  // namespace mapping

namespace location {
inline constexpr std::uint32_t kMappingIndex = 1;
inline constexpr std::uint32_t kAddress = 2;
inline constexpr std::uint32_t kLines = 3;
inline constexpr std::uint32_t kAttributeIndices = 4;
}  // namespace location

namespace line {
inline constexpr std::uint32_t kFunctionIndex = 1;
inline constexpr std::uint32_t kLine = 2;
}  // namespace line

namespace function {
inline constexpr std::uint32_t kName = 1;
inline constexpr std::uint32_t kSystemName = 2;
inline constexpr std::uint32_t kFilename = 3;
inline constexpr std::uint32_t kStartLine = 4;
}  // namespace function

namespace stack {
inline constexpr std::uint32_t kLocationIndices = 1;
}  // namespace stack

namespace link {
inline constexpr std::uint32_t kTraceId = 1;
inline constexpr std::uint32_t kSpanId = 2;
}  // namespace link

namespace attribute {
inline constexpr std::uint32_t kKey = 1;
inline constexpr std::uint32_t kValue = 2;
inline constexpr std::uint32_t kUnit = 3;
}  // namespace attribute

namespace any_value {
inline constexpr std::uint32_t kText = 1;
inline constexpr std::uint32_t kBool = 2;
inline constexpr std::uint32_t kInteger = 3;
inline constexpr std::uint32_t kReal = 4;
}  // namespace any_value

}  // namespace stackpack::exporting::otlp

namespace stackpack::exporting {

/// Writes the content of an AnyValue.
inline void write_value(protozero::pbf_writer& out, const OtlpValue& value) {
  switch (value.type) {
    case OtlpValue::Type::kText:
      out.add_string(otlp::any_value::kText, value.text);
      break;
    case OtlpValue::Type::kBool:
      out.add_bool(otlp::any_value::kBool, value.number != 0);
      break;
    case OtlpValue::Type::kInteger:
      out.add_int64(otlp::any_value::kInteger, static_cast<std::int64_t>(value.number));
      break;
    case OtlpValue::Type::kReal:
      out.add_double(otlp::any_value::kReal, std::bit_cast<double>(value.number));
      break;
  }
}

}  // namespace stackpack::exporting
