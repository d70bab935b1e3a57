#include "formats/otlp/otlp_source.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "formats/otlp/message_fields.h"
#include "formats/otlp/otlp_json.h"
#include "formats/otlp/otlp_losses.h"
#include "formats/otlp/otlp_reader.h"

namespace stackpack::otlp {

namespace {

constexpr std::uint64_t kFrameBytes = 4;  // in which the length of a message is, where it is

bool is_space(std::byte byte) {
  return byte == std::byte{' '} || byte == std::byte{'\n'} || byte == std::byte{'\r'} ||
         byte == std::byte{'\t'};
}

bool looks_like_json(std::span<const std::byte> head) {
  const auto first = std::find_if_not(head.begin(), head.end(), is_space);
  const std::string_view text = bytes::text_of(head);
  return first != head.end() && *first == std::byte{'{'} &&
         (text.find("\"resourceProfiles\"") != std::string_view::npos ||
          text.find("\"resource_profiles\"") != std::string_view::npos ||
          text.find("\"stringTable\"") != std::string_view::npos);
}

// A field with bytes at the beginning: its number and how many bytes it has; 0 when there is none.
struct Opening {
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
};
Opening opening_of(bytes::ByteCursor& in) {
  const auto tag = in.read<std::uint8_t>();
  Opening opening{std::uint32_t{tag} >> 3U, 0};
  for (unsigned shift = 0; shift < 35; shift += 7) {
    const auto byte = in.read<std::uint8_t>();
    opening.bytes |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80) == 0) {
      return in.ok() && (tag & 7) == 2 && tag < 0x80 ? opening : Opening{};
    }
  }
  return {};
}

// ProfilesData begins with ResourceProfiles and these with a resource or a scope, which begin with
// an attribute, or with a name or profile; or with the dictionary, whose tables begin with an entry
// of nothing.
bool looks_like_message(std::span<const std::byte> head) {
  bytes::ByteCursor in(head, 0);
  const Opening outer = opening_of(in);
  const Opening middle = opening_of(in);
  if (outer.number == kDictionary) {
    return middle.number == kMappingTable && middle.bytes == 0 && outer.bytes > 2;
  }
  const Opening inner = opening_of(in);
  return outer.number == kResourceProfiles && (middle.number == 1 || middle.number == 2) &&
         inner.number >= 1 && inner.number <= 3 && middle.bytes + 2 <= outer.bytes &&
         inner.bytes + 2 <= middle.bytes;
}

// The length in front of a message at `begin`, if the messages have any.
Result<std::uint64_t> framed_size(io::ByteSource& source, std::uint64_t begin) {
  std::byte head[kFrameBytes];
  const auto count = source.read_at(begin, head);
  if (!count) {
    return count.error();
  }
  std::uint64_t size = 0;
  for (const std::byte byte : std::span(head).first(*count)) {
    size = size << 8 | std::to_integer<std::uint64_t>(byte);
  }
  return *count == kFrameBytes ? size : 0;
}

// Shows where each message is. Where that ends too early, and the file is longer: `cut`.
Status for_each_message(io::ByteSource& source, std::uint64_t total,
                        const std::function<Status(std::uint64_t, std::uint64_t)>& visit,
                        std::optional<std::uint64_t>& cut) {
  std::byte head[64];
  const auto count = source.read_at(0, head);
  if (!count) {
    return count.error();
  }
  if (looks_like_message(std::span(head).first(*count))) {
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

bool looks_like_otlp(std::span<const std::byte> head) {
  if (looks_like_json(head) || looks_like_message(head)) {
    return true;
  }
  // A length of less than 16 MiB, so that no other number is one.
  return head.size() > kFrameBytes && head[0] == std::byte{0} &&
         looks_like_message(head.subspan(kFrameBytes));
}

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  const std::optional<std::uint64_t> total = source.size();
  if (!source.seekable() || !total) {
    return Error{ErrorCode::kUsage, kNoOffset, "otlp: the source must be seekable"};
  }
  std::vector<std::byte> head(kDetectBytes);
  const auto count = source.read_at(0, head);
  if (!count) {
    return count.error();
  }
  head.resize(*count);
  OtlpReader reader(sink, options);
  capture::ByteAccount account;
  account.total = *total;
  if (looks_like_json(head)) {
    const Result<std::string> message = message_of_json(source, options.max_json_bytes);
    if (!message) {
      return message.error();
    }
    const auto inner = io::source_of_memory(std::as_bytes(std::span(*message)));
    const Status surveyed = reader.survey(*inner, 0, message->size());
    const Status read = surveyed ? reader.read(*inner, 0, message->size()) : surveyed;
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
    .detect_bytes = kDetectBytes,
    .detect = looks_like_otlp,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::otlp
