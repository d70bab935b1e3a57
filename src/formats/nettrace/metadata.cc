#include "formats/nettrace/metadata.h"

#include <algorithm>
#include <array>

#include "bytes/byte_text.h"
#include "bytes/utf8.h"
#include "bytes/wide_text.h"
#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

constexpr std::uint32_t kMostEventNumber = 0xFFFF;

struct KnownProvider {
  std::string_view guid;
  std::string_view name;
};
constexpr std::array<KnownProvider, 5> kKnownProviders = {{
    {"e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "Microsoft-Windows-DotNETRuntime"},
    {"a669021c-c450-4609-a035-5af59af4df18", "Microsoft-Windows-DotNETRuntimeRundown"},
    {"763fd754-7086-4dfe-95eb-c01a46faf4ca", "Microsoft-Windows-DotNETRuntimePrivate"},
    {"3c530d44-97ae-513a-1e6d-783e8f8e03a9", "Microsoft-DotNETCore-SampleProfiler"},
    {"2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5", "System.Threading.Tasks.TplEventSource"},
}};

// The name of a provider that is known by its GUID, or the GUID as text.
std::string read_provider_guid(bytes::ByteCursor& in) {
  std::string text;
  bytes::append_hex(text, in.read<std::uint32_t>(), 8);
  for (int i = 0; i < 2; ++i) {
    text += '-';
    bytes::append_hex(text, in.read<std::uint16_t>(), 4);
  }
  for (int i = 0; i < 8; ++i) {
    text += i == 0 || i == 2 ? "-" : "";
    bytes::append_hex(text, in.read<std::uint8_t>(), 2);
  }
  const auto found = std::find_if(kKnownProviders.begin(), kKnownProviders.end(),
                                  [&](const KnownProvider& known) { return known.guid == text; });
  return found == kKnownProviders.end() ? text : std::string(found->name);
}

bool read_old_metadata(bytes::ByteCursor& in, EventMetadata& metadata) {
  metadata.version = in.read<std::uint32_t>();
  const auto size = in.read<std::uint32_t>();
  if (!in.ok()) {
    return false;
  }
  if (size != 0 && size <= 0x7FFFFFFF) {
    in.skip(sizeof(std::uint32_t));  // the number of the event once more
    bytes::append_wide_text(in, metadata.name);
    in.skip(sizeof(std::uint64_t));
    metadata.version = in.read<std::uint32_t>();
    in.skip(sizeof(std::uint32_t));
    metadata.fields = in.rest();
  }
  return in.ok();
}

void read_fields(bytes::ByteCursor& in, EventMetadata& metadata) {
  const auto fields = in.read<std::uint16_t>();
  for (unsigned i = 0; i < fields && in.ok(); ++i) {
    bytes::ByteCursor field = in.sub(in.read<std::uint16_t>());
    const std::string_view name = read_text8(field);
    if (i == 0) {
      metadata.first_field = name;
    }
    metadata.has_process_id = metadata.has_process_id || name == "ProcessId";
  }
}

// What may follow the fields; of these only the version matters.
void read_options(bytes::ByteCursor& in, EventMetadata& metadata) {
  enum Options : std::uint8_t {
    kOpcode = 1,
    kKeywords = 3,
    kMessage = 4,
    kDescription = 5,
    kPair = 6,
    kGuid = 7,
    kLevel = 8,
    kVersion = 9,
  };
  while (in.ok() && in.remaining() != 0) {
    switch (in.read<std::uint8_t>()) {
      case kOpcode:
      case kLevel:
        in.skip(1);
        break;
      case kKeywords:
        in.skip(sizeof(std::uint64_t));
        break;
      case kPair:
        read_text8(in);
        [[fallthrough]];
      case kMessage:
      case kDescription:
        read_text8(in);
        break;
      case kGuid:
        in.skip(16);
        break;
      case kVersion:
        metadata.version = in.read<std::uint8_t>();
        break;
      default:
        return;  // the size of what is not known is not, either
    }
  }
}

}  // namespace

std::string EventMetadata::title() const {
  std::string_view rest = dotnet::event_name(provider, event);
  if (rest.empty()) {
    rest = name;
  }
  return provider_name + '/' + (rest.empty() ? "id" + std::to_string(event) : std::string(rest));
}

std::optional<EventMetadata> read_metadata(std::uint32_t version,
                                           std::span<const std::byte> payload,
                                           std::uint64_t row_offset) {
  EventMetadata metadata;
  bytes::ByteCursor in(payload, row_offset);
  metadata.id = version >= 3 ? in.read<std::uint32_t>() : static_cast<std::uint32_t>(row_offset);
  bool good = true;
  if (version == 1) {
    metadata.provider_name = read_provider_guid(in);
  } else {
    good = bytes::append_wide_text(in, metadata.provider_name);
  }
  metadata.event = in.read<std::uint32_t>() & kMostEventNumber;
  if (version < 3) {
    good = good && read_old_metadata(in, metadata);
  } else {
    good = bytes::append_wide_text(in, metadata.name) && good;
    in.skip(sizeof(std::uint64_t));
    metadata.version = in.read<std::uint32_t>();
    in.skip(sizeof(std::uint32_t));
    metadata.fields = in.rest();
  }
  if (!good || !in.ok()) {
    return std::nullopt;
  }
  metadata.provider = dotnet::provider_named(metadata.provider_name);
  return metadata;
}

bool read_metadata_row(bytes::ByteCursor& in, EventMetadata& metadata) {
  bytes::ByteCursor row = in.sub(in.read<std::uint16_t>());
  metadata = {};
  metadata.id = read_varint32(row);
  metadata.provider_name = bytes::valid_utf8(read_text8(row));
  metadata.event = read_varint32(row);
  metadata.name = bytes::valid_utf8(read_text8(row));
  metadata.fields = row.rest();
  read_fields(row, metadata);
  bytes::ByteCursor options = row.sub(row.read<std::uint16_t>());
  const bool good = row.ok();
  read_options(options, metadata);
  metadata.provider = dotnet::provider_named(metadata.provider_name);
  return good;
}

}  // namespace stackpack::nettrace
