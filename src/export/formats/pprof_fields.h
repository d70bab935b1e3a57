// Field numbers of pprof's profile.proto.
// Source: https://github.com/google/pprof/blob/main/proto/profile.proto
#pragma once

#include <cstdint>

namespace stackpack::exporting::pprof {

namespace profile {
inline constexpr std::uint32_t kSampleType = 1;
inline constexpr std::uint32_t kSample = 2;
inline constexpr std::uint32_t kMapping = 3;
inline constexpr std::uint32_t kLocation = 4;
inline constexpr std::uint32_t kFunction = 5;
inline constexpr std::uint32_t kStringTable = 6;
inline constexpr std::uint32_t kTimeNanos = 9;
inline constexpr std::uint32_t kDurationNanos = 10;
inline constexpr std::uint32_t kPeriodType = 11;
inline constexpr std::uint32_t kPeriod = 12;
inline constexpr std::uint32_t kComment = 13;
inline constexpr std::uint32_t kDefaultSampleType = 14;
inline constexpr std::uint32_t kDocUrl = 15;
}  // namespace profile

namespace value_type {
inline constexpr std::uint32_t kType = 1;
inline constexpr std::uint32_t kUnit = 2;
}  // namespace value_type

namespace sample {
inline constexpr std::uint32_t kLocationId = 1;
inline constexpr std::uint32_t kValue = 2;
inline constexpr std::uint32_t kLabel = 3;
}  // namespace sample

namespace label {
inline constexpr std::uint32_t kKey = 1;
inline constexpr std::uint32_t kText = 2;
inline constexpr std::uint32_t kNumber = 3;
inline constexpr std::uint32_t kUnit = 4;
}  // namespace label

namespace mapping {
inline constexpr std::uint32_t kId = 1;
inline constexpr std::uint32_t kMemoryStart = 2;
inline constexpr std::uint32_t kMemoryLimit = 3;
inline constexpr std::uint32_t kFileOffset = 4;
inline constexpr std::uint32_t kFilename = 5;
inline constexpr std::uint32_t kBuildId = 6;
inline constexpr std::uint32_t kHasFunctions = 7;
inline constexpr std::uint32_t kHasFilenames = 8;
inline constexpr std::uint32_t kHasLineNumbers = 9;
inline constexpr std::uint32_t kHasInlineFrames = 10;
}  // namespace mapping

namespace location {
inline constexpr std::uint32_t kId = 1;
inline constexpr std::uint32_t kMappingId = 2;
inline constexpr std::uint32_t kAddress = 3;
inline constexpr std::uint32_t kLine = 4;
}  // namespace location

namespace line {
inline constexpr std::uint32_t kFunctionId = 1;
inline constexpr std::uint32_t kLine = 2;
}  // namespace line

namespace function {
inline constexpr std::uint32_t kId = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kSystemName = 3;
inline constexpr std::uint32_t kFilename = 4;
inline constexpr std::uint32_t kStartLine = 5;
}  // namespace function

}  // namespace stackpack::exporting::pprof
