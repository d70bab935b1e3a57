// Descriptions of fields in .nettrace and .etl, and payloads that are read by them: whatever the
// bytes, reading ends well and within its bounds.
#include <algorithm>
#include <span>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "capture/payload_decoder.h"
#include "formats/etl/names/event_schemas.h"
#include "formats/nettrace/payload_fields.h"
#include "fuzz/require.h"

namespace stackpack::fuzz {

namespace {

std::size_t count_fields(const capture::PayloadSchema& schema, unsigned depth) {
  require(depth <= capture::kMostPayloadDepth + 2);
  std::size_t count = schema.size();
  for (const capture::PayloadField& field : schema) {
    count += count_fields(field.members, depth + 1);
  }
  return count;
}

void decode(const capture::PayloadSchema& schema, std::span<const std::byte> payload) {
  // Lists of lists have structs between them.
  require(count_fields(schema, 0) <= 10 * capture::kMostPayloadFields);
  capture::PayloadDecoder decoder;
  for (const unsigned pointer_size : {4U, 8U}) {
    decoder.decode(schema, payload, pointer_size);
    std::size_t values = 0;
    std::size_t names = 0;
    for (const capture::DecodedField& field : decoder.fields()) {
      values += field.values.size();
      names += field.name.size();
    }
    require(values <= capture::PayloadDecoder::kMostValues);
    require(names <= 2 * capture::PayloadDecoder::kMostNameBytes);
  }
}

void read_info(std::span<const std::byte> description, std::span<const std::byte> payload) {
  etl::EventView event;
  event.payload = description;
  capture::PayloadSchemas schemas;
  etl::learn_event_info(event, "P", "P/E", schemas);
  bytes::ByteCursor in(description, 0);
  const etl::Guid provider = etl::read_guid(in);
  const etl::Guid event_class = etl::read_guid(in);
  const auto id = in.read<std::uint16_t>();
  const auto version = in.read<std::uint8_t>();
  in.skip(2);
  const auto opcode = in.read<std::uint8_t>();
  for (const auto& key :
       {etl::schema_key(provider, id, version), etl::schema_key(event_class, opcode, version)}) {
    if (const auto* const found = schemas.find(key)) {
      decode(found->schema, payload);
    }
  }
}

void read_manifest(std::span<const std::byte> description, std::span<const std::byte> payload) {
  capture::PayloadSchemas schemas;
  const etl::Guid guid{};
  etl::learn_manifest(guid, bytes::text_of(description), schemas);
  for (std::uint16_t id = 0; id < 4; ++id) {
    if (const auto* const found = schemas.find(etl::schema_key(guid, id, 0))) {
      decode(found->schema, payload);
    }
  }
}

void read_traced(std::span<const std::byte> description, std::span<const std::byte> payload) {
  etl::EventView event;
  event.extended = description;
  decode(etl::trace_logging_schema(event), payload);
}

}  // namespace

// u8 what describes, u8 bytes of the payload, which come last.
void event_payloads(std::span<const std::byte> data) {
  if (data.size() < 2) {
    return;
  }
  const auto what = std::to_integer<unsigned>(data[0]);
  const std::span<const std::byte> rest = data.subspan(2);
  const std::size_t size = std::min<std::size_t>(std::to_integer<unsigned>(data[1]), rest.size());
  const std::span<const std::byte> payload = rest.last(size);
  const std::span<const std::byte> description = rest.first(rest.size() - size);
  switch (what % 6) {
    case 0:
      return decode(nettrace::read_schema(4, description, "My"), payload);
    case 1:
      return decode(nettrace::read_schema(6, description, "My"), payload);
    case 2:
      return decode(nettrace::read_schema(6, description, "Universal.System"), payload);
    case 3:
      return read_info(description, payload);
    case 4:
      return read_manifest(description, payload);
    default:
      return read_traced(description, payload);
  }
}

}  // namespace stackpack::fuzz
