// How a profile.proto is recognised: its fields stand in any order, as each writer likes.
#include "bytes/byte_text.h"
#include "codec/decompressed_source.h"
#include "formats/pprof/legacy_profile.h"
#include "formats/pprof/pprof_source.h"
#include "formats/pprof/profile_tables.h"
#include "formats/protobuf/message_shape.h"

namespace stackpack::pprof {

namespace {

using capture::Probe;
using capture::ProbeAnswer;
using protobuf::FieldKind;
using protobuf::FieldShape;
using protobuf::MessageShape;

constexpr FieldShape kTypeFields[] = {{kTypeText}, {kTypeUnit}};
constexpr MessageShape kType{kTypeFields};

constexpr FieldShape kLabelFields[] = {{1}, {2}, {3}, {4}};
constexpr MessageShape kLabel{kLabelFields};

constexpr FieldShape kSampleFields[] = {{kSampleLocation, FieldKind::kNumbers},
                                        {kSampleValue, FieldKind::kNumbers},
                                        {kSampleLabel, FieldKind::kMessage, &kLabel}};
constexpr MessageShape kSampleShape{kSampleFields};

constexpr FieldShape kMappingFields[] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}};
constexpr MessageShape kMappingShape{kMappingFields};

constexpr FieldShape kLineFields[] = {{1}, {2}, {3}};
constexpr MessageShape kLine{kLineFields};

constexpr FieldShape kLocationFields[] = {
    {1}, {2}, {3}, {kLocationLine, FieldKind::kMessage, &kLine}, {5}};
constexpr MessageShape kLocationShape{kLocationFields};

constexpr FieldShape kFunctionFields[] = {{1}, {2}, {3}, {4}, {5}};
constexpr MessageShape kFunctionShape{kFunctionFields};

constexpr FieldShape kProfileFields[] = {
    {kSampleType, FieldKind::kMessage, &kType},
    {kSample, FieldKind::kMessage, &kSampleShape},
    {kMapping, FieldKind::kMessage, &kMappingShape},
    {kLocation, FieldKind::kMessage, &kLocationShape},
    {kFunction, FieldKind::kMessage, &kFunctionShape},
    {kString, FieldKind::kBytes},
    {7},
    {8},
    {kTimeNanos},
    {kDurationNanos},
    {kPeriodType, FieldKind::kMessage, &kType},
    {kPeriod},
    {kComment, FieldKind::kNumbers},
    {kDefaultSampleType},
    {kDocUrl},
};
constexpr MessageShape kProfile{kProfileFields};

Probe probe_plain(std::span<const std::byte> head, bool whole) {
  if (looks_like_legacy(bytes::text_of(head))) {
    return {ProbeAnswer::kCertain, "the header of a profile that pprof reads"};
  }
  const protobuf::ShapeFit fit = fit_of(head, kProfile, whole);
  const bool has_messages = fit.has(kSample) || fit.has(kMapping) || fit.has(kLocation) ||
                            fit.has(kFunction) || fit.has(kString) || fit.has(kPeriodType);
  if (!fit.fits || (!fit.has(kSampleType) && !has_messages)) {
    return {ProbeAnswer::kNo, "is not a message with the fields of a profile.proto"};
  }
  const bool is_certain = fit.unknown == 0 && fit.has(kSampleType);
  return is_certain ? Probe{ProbeAnswer::kCertain, "the fields of a profile.proto"}
                    : Probe{ProbeAnswer::kPossible, "some fields of a profile.proto", 50};
}

}  // namespace

Probe probe(const capture::CaptureHead& head) {
  if (!codec::looks_like_gzip(head.bytes)) {
    return probe_plain(head.bytes, head.whole);
  }
  const auto content =
      codec::decompressed_head(head.bytes, codec::FileCompression::kGzip, capture::kProbeBytes);
  return content ? probe_plain(*content, false) : Probe{ProbeAnswer::kNo, "is damaged gzip"};
}

}  // namespace stackpack::pprof
