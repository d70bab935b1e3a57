#include "formats/nettrace/trace_header.h"

#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "formats/nettrace/varints.h"
#include "stackpack/model.h"

namespace stackpack::nettrace {

namespace {

constexpr std::string_view kNettraceMagic = "Nettrace";
constexpr std::string_view kSerialization = "!FastSerialization.1";
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::size_t kMostPairs = 4096;

__extension__ using Wide = __int128;

std::uint32_t number_of(std::string_view text, std::uint32_t otherwise) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? number : otherwise;
}

std::int64_t read_utc_ns(bytes::ByteCursor& in) {
  std::array<std::int64_t, 8> fields{};
  for (std::int64_t& field : fields) {
    field = static_cast<std::int16_t>(in.read<std::uint16_t>());
  }
  const auto [year, month, weekday, day, hour, minute, second, millisecond] = fields;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month) & 15U),
                                         std::chrono::day(static_cast<unsigned>(day) & 31U)};
  // Years whose nanoseconds fit, whatever the other fields say.
  const bool known = date.ok() && year >= 1970 && year < 2200;
  const std::int64_t days =
      known ? std::chrono::sys_days(date).time_since_epoch().count() : std::int64_t{0};
  const std::int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second;
  return (seconds * 1000 + millisecond) * 1'000'000;
}

void read_pairs(bytes::ByteCursor& in, TraceHeader& header) {
  header.pid = kUnknownId;
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok() && i < kMostPairs; ++i) {
    std::string key(read_text8(in));
    std::string value(read_text8(in));
    if (key == "ProcessId") {
      header.pid = number_of(value, kUnknownId);
    } else if (key == "HardwareThreadCount") {
      header.processors = number_of(value, 0);
    }
    header.pairs.emplace_back(std::move(key), std::move(value));
  }
}

}  // namespace

bool looks_like_nettrace(std::span<const std::byte> head) {
  const std::string_view text = bytes::text_of(head);
  return text.starts_with(kNettraceMagic) ||
         (text.size() >= 24 && text.substr(4, 20) == kSerialization);
}

Result<StreamHead> read_stream_head(std::span<const std::byte> head) {
  StreamHead found;
  bytes::ByteCursor in(head, 0);
  if (bytes::text_of(head).starts_with(kNettraceMagic)) {
    found.is_nettrace = true;
    in.skip(kNettraceMagic.size());
  }
  const auto size = in.read<std::uint32_t>();
  const bool ends = !in.ok() || (size == kSerialization.size() && in.remaining() < size);
  if (ends) {
    return in.truncated("nettrace: the file ends in its header");
  }
  if (size == 0 && found.is_nettrace) {
    found.version = in.read<std::uint32_t>();
    in.skip(sizeof(std::uint32_t));  // minor versions add what can be passed over
    if (!in.ok()) {
      return in.truncated("nettrace: the file ends in its header");
    }
    if (found.version != kNewestVersion) {
      return unknown_version(found.version, in.offset() - 2 * sizeof(std::uint32_t));
    }
  } else if (size != kSerialization.size() ||
             bytes::text_of(in.read_bytes(kSerialization.size())) != kSerialization) {
    return in.corrupt("nettrace: no FastSerialization header");
  }
  found.bytes = in.position();
  return found;
}

Error unknown_version(std::uint32_t version, std::uint64_t offset) {
  // The text of an error is static.
  static constexpr std::array<std::string_view, 16> kTexts = {
      "nettrace: version 0 does not have this header",
      "nettrace: version 1 does not have this header",
      "nettrace: version 2 does not have this header",
      "nettrace: version 3 does not have this header",
      "nettrace: version 4 does not have this header",
      "nettrace: version 5 is not known",
      "nettrace: version 6 does not have this header",
      "nettrace: version 7 is not known",
      "nettrace: version 8 is not known",
      "nettrace: version 9 is not known",
      "nettrace: version 10 is not known",
      "nettrace: version 11 is not known",
      "nettrace: version 12 is not known",
      "nettrace: version 13 is not known",
      "nettrace: version 14 is not known",
      "nettrace: version 15 is not known",
  };
  return {ErrorCode::kUnsupported, offset,
          version < kTexts.size() ? kTexts[version]
                                  : std::string_view("nettrace: a version above 15 is not known")};
}

std::uint64_t TraceHeader::unix_ns(std::uint64_t ticks) const {
  const Wide distance = static_cast<Wide>(ticks) - sync_ticks;
  Wide scaled = distance * kNsPerSecond;
  const Wide rest = scaled % frequency;
  scaled = scaled / frequency - (rest < 0 ? 1 : 0);
  const Wide time = scaled + sync_ns;
  if (time <= 0) {
    return 0;
  }
  return time > std::numeric_limits<std::int64_t>::max() ? std::numeric_limits<std::int64_t>::max()
                                                         : static_cast<std::uint64_t>(time);
}

std::uint64_t TraceHeader::ns_of(std::uint64_t ticks) const {
  const Wide ns = static_cast<Wide>(ticks) * kNsPerSecond / frequency;
  return ns > std::numeric_limits<std::int64_t>::max() ? std::numeric_limits<std::int64_t>::max()
                                                       : static_cast<std::uint64_t>(ns);
}

Result<TraceHeader> read_trace_header(std::uint32_t version, std::span<const std::byte> content,
                                      std::uint64_t offset) {
  bytes::ByteCursor in(content, offset);
  TraceHeader header;
  header.version = version;
  in.skip(version < 3 ? sizeof(std::uint32_t) : 0);
  header.sync_ns = read_utc_ns(in);
  header.sync_ticks = static_cast<std::int64_t>(in.read<std::uint64_t>());
  header.frequency = static_cast<std::int64_t>(in.read<std::uint64_t>());
  if (version >= 3) {
    header.pointer_size = in.read<std::uint32_t>();
  }
  if (version >= kNewestVersion) {
    read_pairs(in, header);
  } else if (version >= 3) {
    header.pid = in.read<std::uint32_t>();
    header.processors = in.read<std::uint32_t>();
    in.skip(sizeof(std::uint32_t));  // of a sampling rate that no event has
  }
  if (!in.ok()) {
    return in.truncated("nettrace: the file ends in the description of the trace");
  }
  if (header.frequency <= 0) {
    return in.corrupt("nettrace: invalid clock frequency");
  }
  if (header.pointer_size != 4 && header.pointer_size != 8) {
    return in.corrupt("nettrace: invalid pointer size");
  }
  return header;
}

}  // namespace stackpack::nettrace
