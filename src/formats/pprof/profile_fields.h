// Field numbers of profile.proto which the reader understands.
// Source: https://github.com/google/pprof/blob/main/proto/profile.proto
#pragma once

#include <cstdint>

namespace stackpack::pprof {

enum ProfileField : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kLastField = 15,
};
enum ValueTypeField : std::uint32_t { kTypeText = 1, kTypeUnit = 2 };
enum SampleField : std::uint32_t { kSampleLocation = 1, kSampleValue = 2, kSampleLabel = 3 };
enum LabelField : std::uint32_t { kLabelKey = 1, kLabelText = 2, kLabelNumber = 3 };
enum MappingField : std::uint32_t {
  kMappingId = 1,
  kMappingStart = 2,
  kMappingLimit = 3,
  kMappingOffset = 4,
  kMappingFile = 5,
  kMappingBuildId = 6,
};
enum LocationField : std::uint32_t {
  kLocationId = 1,
  kLocationMapping = 2,
  kLocationAddress = 3,
  kLocationLine = 4,
};
// The name's number stands for those of the fields that follow: protobuf::take_function_field.
enum FunctionField : std::uint32_t { kFunctionId = 1, kFunctionName = 2 };

}  // namespace stackpack::pprof
