#include "support/etl_writer.h"

#include <algorithm>
#include <cstring>

#include "formats/etl/file/buffer_header.h"
#include "support/lz_compressors.h"

namespace stackpack::test {

namespace {

using etl::CompressionFormat;

constexpr std::uint32_t kMarker = 0xC0000000;

std::vector<std::byte> compress(CompressionFormat format, std::span<const std::byte> content) {
  switch (format) {
    case CompressionFormat::kLznt1:
      return compress_lznt1(content);
    case CompressionFormat::kXpressHuffman:
      return compress_xpress_huffman(content);
    default:
      return compress_xpress_plain(content);
  }
}

TestBytes buffer_header(std::uint32_t size, std::uint32_t saved, std::uint64_t sequence,
                        std::uint16_t processor, std::uint32_t state, std::uint16_t flags,
                        std::uint16_t type) {
  TestBytes head;
  const bool wide = (flags & etl::kBufferWideProcessor) != 0;
  head.u32(size).u32(saved).u32(saved).u32(0).u64(0).u64(sequence).u64(0);
  head.u16(static_cast<std::uint16_t>(wide ? processor : 0x0800 | (processor & 0xFF)));
  head.u16(0).u32(state).u32(saved).u16(flags).u16(type).zeros(16);
  return head;
}

void write_bytes(std::ostream& out, std::span<const std::byte> bytes) {
  std::string text(bytes.size(), '\0');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace

void put_wide(TestBytes& bytes, std::string_view ascii) {
  for (const char c : ascii) {
    bytes.u16(static_cast<std::uint16_t>(static_cast<unsigned char>(c)));
  }
  bytes.u16(0);
}

EtlWriter::EtlWriter(std::ostream& out, EtlOptions options)
    : out_(out), options_(std::move(options)) {
  write_bytes(out_, header_buffer());
}

std::vector<std::byte> EtlWriter::header_buffer() const {
  const bool packed = options_.compression != CompressionFormat::kNone;
  TestBytes body;
  body.u32(options_.buffer_size);
  body.u8(10).u8(0).u8(packed ? 2 : 1).u8(packed ? 0 : 5);
  body.u32(19041).u32(options_.processors).u64(options_.end_filetime);
  body.u32(156250).u32(0).u32(options_.mode | (packed ? std::uint32_t{etl::kModeCompressed} : 0));
  body.u32(buffers_).u32(1).u32(options_.pointer_size).u32(options_.events_lost);
  body.u32(options_.cpu_mhz);
  body.zeros(std::size_t{2} * options_.pointer_size + 172 + 4);
  body.u64(options_.start_filetime - 10'000'000).u64(options_.frequency);
  body.u64(options_.start_filetime).u32(options_.clock_type).u32(options_.buffers_lost);
  put_wide(body, options_.logger_name);
  put_wide(body, "synthetic.etl");

  TestBytes event;
  event.u32(kMarker | (std::uint32_t{header_type(1, 2)} << 16) | 2);
  event.u16(static_cast<std::uint16_t>(0x20 + body.bytes.size())).u8(0).u8(0);
  event.u32(1).u32(1).u64(options_.clock_origin).u64(0);
  event.append(body.bytes).pad_to(8);

  const auto saved = static_cast<std::uint32_t>(0x48 + event.bytes.size());
  const std::uint32_t size = packed ? std::max<std::uint32_t>(512, saved) : options_.buffer_size;
  const auto flags =
      static_cast<std::uint16_t>(options_.wide_processor ? etl::kBufferWideProcessor | 1 : 1);
  const std::uint32_t state = options_.named_compression != 0 ? options_.named_compression
                              : packed ? static_cast<std::uint32_t>(options_.compression)
                                       : 3;
  TestBytes all = buffer_header(size, saved, 0, 0, state, flags, etl::kBufferLogHeader);
  if (options_.old_header_offset) {
    std::fill_n(all.bytes.begin() + 4, 4, std::byte{0});
  }
  all.append(event.bytes);
  all.bytes.resize(size, std::byte{0xFF});
  return all.bytes;
}

void EtlWriter::put_pointer(TestBytes& bytes, std::uint64_t value) const {
  if (options_.pointer_size == 4) {
    bytes.u32(static_cast<std::uint32_t>(value));
  } else {
    bytes.u64(value);
  }
}

void EtlWriter::raw(std::uint16_t cpu, std::span<const std::byte> event) {
  const std::size_t room = options_.buffer_size - etl::kBufferHeaderBytes;
  const std::size_t padded = (event.size() + 7) / 8 * 8;
  OpenBuffer& buffer = open_[cpu];
  if (buffer.events.size() + padded > room) {
    flush(cpu);
  }
  buffer.events.insert(buffer.events.end(), event.begin(), event.end());
  buffer.events.resize((buffer.events.size() + 7) / 8 * 8);
}

void EtlWriter::flush(std::uint16_t cpu) {
  OpenBuffer& buffer = open_[cpu];
  if (buffer.events.empty()) {
    return;
  }
  write_buffer(cpu, buffer);
  buffer.events.clear();
  buffer.quirks = {};
}

void EtlWriter::write_buffer(std::uint16_t cpu, OpenBuffer& buffer) {
  std::uint32_t size = options_.buffer_size;
  auto flags = static_cast<std::uint16_t>(
      buffer.quirks.flags | (options_.wide_processor ? etl::kBufferWideProcessor : 0));
  std::vector<std::byte> body;
  const auto saved = static_cast<std::uint32_t>(0x48 + buffer.events.size());
  if (options_.compression != CompressionFormat::kNone) {
    body = compress(options_.compression, buffer.events);
    if (body.size() < buffer.events.size()) {
      size = static_cast<std::uint32_t>(0x48 + body.size());
      flags = static_cast<std::uint16_t>(flags | etl::kBufferCompressed);
    } else {
      body.clear();
    }
  }
  if (body.empty()) {
    body = buffer.events;
    body.resize(size - etl::kBufferHeaderBytes, std::byte{0xFF});
  }
  sequence_ += 1 + buffer.quirks.skip_sequence;
  const TestBytes head = buffer_header(size, saved, sequence_, cpu, 0, flags, buffer.quirks.type);
  write_bytes(out_, head.bytes);
  write_bytes(out_, body);
  ++buffers_;
}

void EtlWriter::finish() {
  for (const auto& [cpu, buffer] : open_) {
    flush(cpu);
  }
  const auto end = out_.tellp();
  out_.seekp(0);
  write_bytes(out_, header_buffer());
  out_.seekp(end);
}

void EtlWriter::perf_info(std::uint16_t cpu, std::uint64_t clock, std::uint8_t group,
                          std::uint8_t type, std::uint8_t version, const TestBytes& payload,
                          unsigned counters) {
  TestBytes event;
  event.u32(kMarker | (std::uint32_t{header_type(0x10, 0x11)} << 16) | (counters << 8) | version);
  event.u16(static_cast<std::uint16_t>(0x10 + 8 * counters + payload.bytes.size()));
  event.u8(type).u8(group).u64(clock).zeros(std::size_t{8} * counters).append(payload.bytes);
  raw(cpu, event.bytes);
}

void EtlWriter::system(std::uint16_t cpu, std::uint64_t clock, std::uint8_t group,
                       std::uint8_t type, std::uint8_t version, std::uint32_t tid,
                       std::uint32_t pid, const TestBytes& payload, bool compact) {
  TestBytes event;
  const std::uint8_t form = compact ? header_type(3, 4) : header_type(1, 2);
  const std::size_t header = compact ? 0x18 : 0x20;
  event.u32(kMarker | (std::uint32_t{form} << 16) | version);
  event.u16(static_cast<std::uint16_t>(header + payload.bytes.size())).u8(type).u8(group);
  event.u32(tid).u32(pid).u64(clock).zeros(header - 0x18).append(payload.bytes);
  raw(cpu, event.bytes);
}

void EtlWriter::class_event(std::uint16_t cpu, std::uint64_t clock, const etl::Guid& guid,
                            std::uint8_t type, std::uint16_t version, std::uint32_t tid,
                            std::uint32_t pid, const TestBytes& payload, bool instance) {
  TestBytes event;
  const std::uint8_t form = instance ? header_type(0x0B, 0x15) : header_type(0x0A, 0x14);
  const std::size_t header = instance ? 0x48 : 0x30;
  event.u16(static_cast<std::uint16_t>(header + payload.bytes.size())).u8(form).u8(0xC0);
  event.u8(type).u8(0).u16(version).u32(tid).u32(pid).u64(clock).u64(guid.low).u64(guid.high);
  event.zeros(header - 0x28).append(payload.bytes);
  raw(cpu, event.bytes);
}

void EtlWriter::provider(std::uint16_t cpu, std::uint64_t clock, const etl::Guid& guid,
                         std::uint16_t id, std::uint8_t opcode, std::uint8_t version,
                         std::uint32_t tid, std::uint32_t pid, const TestBytes& payload,
                         const std::vector<EtlExtendedItem>& extended) {
  TestBytes items;
  for (std::size_t i = 0; i < extended.size(); ++i) {
    const auto size = static_cast<std::uint16_t>(extended[i].data.size());
    items.u16(static_cast<std::uint16_t>(8 + size)).u16(extended[i].type);
    items.u16(i + 1 < extended.size() ? 1 : 0).u16(size);
    items.append(extended[i].data).pad_to(8);
  }
  TestBytes event;
  event.u16(static_cast<std::uint16_t>(0x50 + items.bytes.size() + payload.bytes.size()));
  event.u8(header_type(0x12, 0x13)).u8(0xC0).u16(extended.empty() ? 0 : 1).u16(0);
  event.u32(tid).u32(pid).u64(clock).u64(guid.low).u64(guid.high);
  event.u16(id).u8(version).u8(0).u8(4).u8(opcode).u16(0).u64(0).u64(0).zeros(16);
  event.append(items.bytes).append(payload.bytes);
  raw(cpu, event.bytes);
}

void EtlWriter::message(std::uint16_t cpu, std::uint16_t size) {
  TestBytes event;
  event.u32(0x90000000U | size);
  raw(cpu, event.zeros(size - 4U).bytes);
}

void EtlWriter::sample(std::uint16_t cpu, std::uint64_t clock, std::uint32_t tid, std::uint64_t ip,
                       std::uint8_t interrupt) {
  TestBytes payload;
  put_pointer(payload, ip);
  payload.u32(tid).u16(1).u8(interrupt).u8(0);
  perf_info(cpu, clock, 15, 46, 2, payload);
}

void EtlWriter::context_switch(std::uint16_t cpu, std::uint64_t clock, std::uint32_t new_tid,
                               std::uint32_t old_tid) {
  TestBytes payload;
  payload.u32(new_tid).u32(old_tid).zeros(16);
  perf_info(cpu, clock, 5, 36, 4, payload);
}

void EtlWriter::stack(std::uint16_t cpu, std::uint64_t clock, std::uint64_t event_clock,
                      std::uint32_t pid, std::uint32_t tid, const Frames& frames) {
  TestBytes payload;
  payload.u64(event_clock).u32(pid).u32(tid);
  for (const std::uint64_t frame : frames) {
    put_pointer(payload, frame);
  }
  perf_info(cpu, clock, 24, 32, 2, payload);
}

void EtlWriter::key_reference(std::uint16_t cpu, std::uint64_t clock, std::uint64_t event_clock,
                              std::uint32_t pid, std::uint32_t tid, std::uint64_t key,
                              bool kernel) {
  TestBytes payload;
  payload.u64(event_clock).u32(pid).u32(tid);
  put_pointer(payload, key);
  perf_info(cpu, clock, 24, kernel ? 37 : 38, 2, payload);
}

void EtlWriter::key_definition(std::uint16_t cpu, std::uint64_t clock, std::uint64_t key,
                               const Frames& frames, std::uint8_t type) {
  TestBytes payload;
  put_pointer(payload, key);
  for (const std::uint64_t frame : frames) {
    put_pointer(payload, frame);
  }
  perf_info(cpu, clock, 24, type, 2, payload);
}

void EtlWriter::process(std::uint16_t cpu, std::uint64_t clock, std::uint8_t type,
                        std::uint32_t pid, std::uint32_t parent, std::string_view name,
                        std::string_view command_line) {
  TestBytes payload;
  put_pointer(payload, 0x1000);
  payload.u32(pid).u32(parent).u32(1).u32(0);
  put_pointer(payload, 0x2000);
  payload.u32(0);  // flags
  payload.u32(0);  // no SID
  payload.text(name).u8(0);
  put_wide(payload, command_line);
  put_wide(payload, "");
  put_wide(payload, "");
  system(cpu, clock, 3, type, 4, 4, 4, payload);
}

void EtlWriter::thread(std::uint16_t cpu, std::uint64_t clock, std::uint8_t type, std::uint32_t pid,
                       std::uint32_t tid, std::string_view name) {
  TestBytes payload;
  payload.u32(pid).u32(tid);
  for (int i = 0; i < 7; ++i) {
    put_pointer(payload, 0);
  }
  payload.u32(0).u32(0);
  if (!name.empty()) {
    put_wide(payload, name);
  }
  system(cpu, clock, 5, type, 3, 4, 4, payload);
}

void EtlWriter::image(std::uint16_t cpu, std::uint64_t clock, std::uint8_t type, std::uint32_t pid,
                      std::uint64_t base, std::uint64_t size, std::string_view path) {
  TestBytes payload;
  put_pointer(payload, base);
  put_pointer(payload, size);
  payload.u32(pid).u32(0).u32(0).u32(0);
  put_pointer(payload, base);
  payload.zeros(16);
  put_wide(payload, path);
  perf_info(cpu, clock, type == 10 ? 3 : 20, type, 2, payload);
}

void EtlWriter::rsds(std::uint16_t cpu, std::uint64_t clock, std::uint32_t pid, std::uint64_t base,
                     const etl::Guid& guid, std::uint32_t age, std::string_view pdb) {
  constexpr etl::Guid kImageId = etl::make_guid(0xb3e675d7, 0x2554, 0x4f18, 0x830b, 0x2762732560de);
  TestBytes payload;
  put_pointer(payload, base);
  payload.u32(pid).u64(guid.low).u64(guid.high).u32(age).text(pdb).u8(0);
  class_event(cpu, clock, kImageId, 36, 2, 0xFFFFFFFF, pid, payload);
}

void EtlWriter::volume(std::uint16_t cpu, std::uint64_t clock, std::string_view device,
                       std::string_view drive) {
  constexpr etl::Guid kSystemConfig =
      etl::make_guid(0x9b79ee91, 0xb5fd, 0x41c0, 0xa243, 0x4248e266e9d0);
  TestBytes payload;
  put_wide(payload, device);
  put_wide(payload, drive);
  class_event(cpu, clock, kSystemConfig, 35, 0, 0, 0, payload);
}

void EtlWriter::clr_stack(std::uint16_t cpu, std::uint64_t clock, const etl::Guid& guid,
                          std::uint32_t tid, std::uint32_t pid, const Frames& frames) {
  TestBytes payload;
  payload.u16(9).u8(0).u8(0).u32(static_cast<std::uint32_t>(frames.size()));
  for (const std::uint64_t frame : frames) {
    put_pointer(payload, frame);
  }
  provider(cpu, clock, guid, 82, 82, 0, tid, pid, payload);
}

EtlExtendedItem EtlWriter::stack_item(std::uint64_t match_id, const Frames& frames) const {
  TestBytes data;
  data.u64(match_id);
  for (const std::uint64_t frame : frames) {
    put_pointer(data, frame);
  }
  return {static_cast<std::uint16_t>(options_.pointer_size == 4 ? 5 : 6), data.bytes};
}

EtlExtendedItem EtlWriter::key_item(std::uint64_t match_id, std::uint64_t key) const {
  TestBytes data;
  data.u64(match_id);
  put_pointer(data, key);
  return {static_cast<std::uint16_t>(options_.pointer_size == 4 ? 0x10 : 0x11),
          data.pad_to(8).bytes};
}

}  // namespace stackpack::test
