#include "formats/otlp/otlp_source.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "capture/json_outline.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/otlp_json.h"
#include "formats/otlp/otlp_losses.h"
#include "formats/otlp/otlp_reader.h"
#include "formats/protobuf/message_shape.h"

namespace stackpack::otlp {

namespace {

constexpr std::uint64_t kFrameBytes = 4;  // in which the length of a message is, where it is

using capture::Probe;
using capture::ProbeAnswer;
using protobuf::FieldKind;
using protobuf::MessageShape;

Probe probe_json(const capture::JsonOutline& json) {
  if (json.has("resourceProfiles") || json.has("resource_profiles") ||
      json.has("dictionary/stringTable") || json.has("dictionary/string_table")) {
    return {ProbeAnswer::kCertain, "the keys of ProfilesData"};
  }
  if (json.has("dictionary")) {
    return {ProbeAnswer::kPossible, "a dictionary", 50};
  }
  return {ProbeAnswer::kNo, "has neither resourceProfiles nor a dictionary"};
}

constexpr protobuf::FieldShape kAttributeFields[] = {
    {kKeyText, FieldKind::kBytes}, {kKeyValue, FieldKind::kBytes}, {kKeyIndex}};
constexpr MessageShape kAttributeShape{kAttributeFields};

constexpr protobuf::FieldShape kResourceFields[] = {
    {kResourceAttribute, FieldKind::kMessage, &kAttributeShape}, {2}, {3, FieldKind::kBytes}};
constexpr MessageShape kResourceShape{kResourceFields};

constexpr protobuf::FieldShape kScopeFields[] = {
    {kScopeName, FieldKind::kBytes},
    {kScopeVersion, FieldKind::kBytes},
    {kScopeAttribute, FieldKind::kMessage, &kAttributeShape},
    {4}};
constexpr MessageShape kScopeShape{kScopeFields};

constexpr protobuf::FieldShape kScopeProfilesFields[] = {
    {kScope, FieldKind::kMessage, &kScopeShape},
    {kProfile, FieldKind::kBytes},
    {kScopeSchema, FieldKind::kBytes}};
constexpr MessageShape kScopeProfilesShape{kScopeProfilesFields};

constexpr protobuf::FieldShape kResourceProfilesFields[] = {
    {kResource, FieldKind::kMessage, &kResourceShape},
    {kScopeProfiles, FieldKind::kMessage, &kScopeProfilesShape},
    {kResourceSchema, FieldKind::kBytes}};
constexpr MessageShape kResourceProfilesShape{kResourceProfilesFields};

constexpr protobuf::FieldShape kDictionaryFields[] = {
    {kMappingTable, FieldKind::kBytes},  {kLocationTable, FieldKind::kBytes},
    {kFunctionTable, FieldKind::kBytes}, {kLinkTable, FieldKind::kBytes},
    {kStringTable, FieldKind::kBytes},   {kAttributeTable, FieldKind::kBytes},
    {kStackTable, FieldKind::kBytes}};
constexpr MessageShape kDictionaryShape{kDictionaryFields};

constexpr protobuf::FieldShape kProfilesDataFields[] = {
    {kResourceProfiles, FieldKind::kMessage, &kResourceProfilesShape},
    {kDictionary, FieldKind::kMessage, &kDictionaryShape}};
constexpr MessageShape kProfilesDataShape{kProfilesDataFields};

bool looks_like_message(std::span<const std::byte> head, bool whole) {
  const protobuf::ShapeFit fit = fit_of(head, kProfilesDataShape, whole);
  return fit.fits && fit.unknown == 0 && (fit.has(kResourceProfiles) || fit.has(kDictionary));
}

std::uint64_t frame_size(std::span<const std::byte> length) {
  std::uint64_t size = 0;
  for (const std::byte byte : length) {
    size = size << 8 | std::to_integer<std::uint64_t>(byte);
  }
  return size;
}

// A length of less than 16 MiB, so that no other number is one, and a message of that length.
bool looks_like_frame(std::span<const std::byte> head) {
  if (head.size() <= kFrameBytes || head[0] != std::byte{0}) {
    return false;
  }
  const std::uint64_t size = frame_size(head.first(kFrameBytes));
  const std::span<const std::byte> rest = head.subspan(kFrameBytes);
  const bool whole = size <= rest.size();
  return looks_like_message(whole ? rest.first(size) : rest, whole);
}

// The length in front of a message at `begin`, if the messages have any.
Result<std::uint64_t> framed_size(io::ByteSource& source, std::uint64_t begin) {
  std::byte head[kFrameBytes];
  const auto count = source.read_at(begin, head);
  if (!count) {
    return count.error();
  }
  return *count == kFrameBytes ? frame_size(head) : 0;
}

// Shows where each message is. Where that ends too early, and the file is longer: `cut`.
Status for_each_message(io::ByteSource& source, std::uint64_t total,
                        const std::function<Status(std::uint64_t, std::uint64_t)>& visit,
                        std::optional<std::uint64_t>& cut) {
  std::vector<std::byte> head(capture::kProbeBytes);
  const auto count = source.read_at(0, head);
  if (!count) {
    return count.error();
  }
  if (looks_like_message(std::span(head).first(*count), false)) {
    return visit(0, total);
  }
  for (std::uint64_t begin = 0; begin < total;) {
    const Result<std::uint64_t> size = framed_size(source, begin);
    if (!size) {
      return size.error();
    }
    const std::uint64_t left = total - begin;
    if (left < kFrameBytes || *size > left - kFrameBytes) {
      cut = begin;
      return {};
    }
    const std::uint64_t message = begin + kFrameBytes;
    if (const Status status = visit(message, message + *size); !status) {
      return status;
    }
    begin = message + *size;
  }
  return {};
}

Status read_messages(io::ByteSource& source, std::uint64_t total, OtlpReader& reader,
                     capture::LossCounters& losses) {
  std::optional<std::uint64_t> cut;
  const auto survey = [&](std::uint64_t begin, std::uint64_t end) {
    return reader.survey(source, begin, end);
  };
  if (const Status status = for_each_message(source, total, survey, cut); !status) {
    return status;
  }
  cut.reset();
  const auto read = [&](std::uint64_t begin, std::uint64_t end) {
    const Status status = reader.read(source, begin, end);
    reader.add_parsed(begin == 0 ? 0 : kFrameBytes);
    return status;
  };
  if (const Status status = for_each_message(source, total, read, cut); !status || !cut) {
    return status;
  }
  losses.add(name_of(skip::kDamagedStream), LossKind::kDamage, 1, *cut);
  return *cut == 0 ? Status(Error{ErrorCode::kTruncated, 0, "otlp: the message is cut"}) : Status{};
}

}  // namespace

Probe probe(const capture::CaptureHead& head) {
  const capture::JsonOutline json(head.bytes);
  if (json.is_json()) {
    return probe_json(json);
  }
  return looks_like_message(head.bytes, head.whole) || looks_like_frame(head.bytes)
             ? Probe{ProbeAnswer::kCertain, "the fields of ProfilesData"}
             : Probe{ProbeAnswer::kNo,
                     "is neither a message with the fields of ProfilesData nor "
                     "JSON"};
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  const std::optional<std::uint64_t> total = source.size();
  if (!source.seekable() || !total) {
    return Error{ErrorCode::kUsage, kNoOffset, "otlp: the source must be seekable"};
  }
  std::vector<std::byte> head(capture::kProbeBytes);
  const auto count = source.read_at(0, head);
  if (!count) {
    return count.error();
  }
  head.resize(*count);
  OtlpReader reader(sink, options);
  capture::ByteAccount account;
  account.total = *total;
  if (capture::JsonOutline(head).is_json()) {
    const Result<std::string> message = message_of_json(source, options.max_json_bytes);
    if (!message) {
      return message.error();
    }
    const auto inner = io::source_of_memory(std::as_bytes(std::span(*message)));
    const Status surveyed = reader.survey(*inner, 0, message->size());
    const Status read =
        surveyed ? reader.read(*inner, 0, message->size(), OtlpReader::Numbers::kOurs) : surveyed;
    if (!read) {
      return read.error();
    }
    account.parsed = account.total;
  } else {
    if (const Status status = read_messages(source, *total, reader, sink.losses()); !status) {
      return status.error();
    }
    account.parsed = std::min(account.total, reader.parsed());
  }
  if (const Status status = reader.finish(); !status) {
    return status.error();
  }
  account.skipped.add(skip::kDamagedStream, account.total - account.parsed);
  return account;
}

constinit const capture::SourceFormat source_format = {
    .name = "otlp",
    .probe = probe,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::otlp
