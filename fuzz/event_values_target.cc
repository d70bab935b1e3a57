// Payloads of events and the sections that values of events are kept in: whatever the bytes,
// reading ends well, and blocks that are good come back as they were.
#include <array>
#include <span>
#include <vector>

#include "formats/dotnet/runtime_values.h"
#include "formats/etl/kernel_values.h"
#include "fuzz/require.h"
#include "spk/format/value_codec.h"

namespace stackpack::fuzz {

namespace {

std::vector<ValueSchema> schemas() {
  return {{"numbers", {{"count", ValueType::kNumber}, {"real", ValueType::kReal}}},
          {"text", {{"what", ValueType::kText}}}};
}

std::vector<std::byte> bytes_of(const spk::BlockContent& content) {
  std::vector<std::byte> bytes;
  for (const std::span<const std::byte> part : content.parts()) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

void read_block(std::span<const std::byte> data) {
  const std::vector<ValueSchema> known = schemas();
  const spk::ValueBounds bounds{100, 10, known};
  std::vector<EventValue> rows;
  if (spk::decode_values(bytes::ByteCursor(data, 0), bounds, rows)) {
    spk::BlockContent content;
    spk::encode_values(rows, known, content);
    std::vector<EventValue> again;
    const std::vector<std::byte> encoded = bytes_of(content);
    require(spk::decode_values(bytes::ByteCursor(encoded, 0), bounds, again).has_value());
    require(again == rows);
  }
  std::vector<ValueSchema> kinds;
  std::vector<std::string> texts;
  static_cast<void>(spk::decode_value_kinds(bytes::ByteCursor(data, 0), kinds).has_value());
  static_cast<void>(spk::decode_value_texts(bytes::ByteCursor(data, 0), texts).has_value());
}

void read_payloads(std::span<const std::byte> data, std::uint8_t choice) {
  constexpr std::array<std::uint32_t, 17> kIds = {1,  2,  3,  4,  7,  8,   9,   10, 50,
                                                  51, 55, 57, 80, 91, 143, 145, 303};
  capture::ValueRecorder recorder;
  capture::LossCounters losses;
  dotnet::RuntimeValues runtime(&recorder, losses);
  const unsigned pointer_size = (choice & 0x80U) != 0 ? 4 : 8;
  for (const std::uint32_t id : kIds) {
    runtime.event({id, data, pointer_size, 1, 2, 3, 0});
  }
  etl::LogFileHeader header;
  const etl::EtlClock clock(header);
  etl::KernelValues kernel(&recorder, losses, clock, choice);
  etl::EventView event;
  event.payload = data;
  event.pointer_size = static_cast<std::uint8_t>(pointer_size);
  event.version = 2 + (choice & 1U);
  for (unsigned group = 0; group < 10; ++group) {
    for (unsigned type = 0; type < 256; ++type) {
      event.group = static_cast<std::uint8_t>(group);
      event.type = static_cast<std::uint8_t>(type);
      if (etl::KernelValues::wants(event.group, event.type)) {
        kernel.event(event, {}, {});
      }
    }
  }
  kernel.finish();
  std::uint64_t latest_ns = 0;
  const Status finished = recorder.finish(losses, [&latest_ns](const EventValue& row) {
    require(row.time_ns >= latest_ns);
    latest_ns = row.time_ns;
    return Status();
  });
  require(finished.has_value());
}

}  // namespace

void event_values(std::span<const std::byte> data) {
  if (data.empty()) {
    return;
  }
  read_block(data.subspan(1));
  read_payloads(data.subspan(1), std::to_integer<std::uint8_t>(data[0]));
}

}  // namespace stackpack::fuzz
