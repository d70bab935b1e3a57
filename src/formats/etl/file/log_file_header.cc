#include "formats/etl/file/log_file_header.h"

#include "bytes/byte_cursor.h"
#include "formats/etl/event/windows_text.h"
#include "formats/etl/file/buffer_header.h"

namespace stackpack::etl {

namespace {

constexpr std::size_t kSystemHeaderBytes = 0x20;

// The first event is a SYSTEM header (form 1: 32-bit, 2: 64-bit) of group 0, type 0.
bool is_log_header_event(std::uint32_t marker, std::uint8_t type, std::uint8_t group) {
  const std::uint32_t form = (marker >> 16) & 0xFF;
  return marker >> 24 == 0xC0 && (form == 1 || form == 2) && type == 0 && group == 0;
}

// TRACE_LOGFILE_HEADER up to its texts.
void read_numbers(bytes::ByteCursor& body, LogFileHeader& header) {
  header.buffer_size = body.read<std::uint32_t>();
  for (std::uint8_t& part : header.version) {
    part = body.read<std::uint8_t>();
  }
  header.build = body.read<std::uint32_t>();
  header.processors = body.read<std::uint32_t>();
  header.end_filetime = body.read<std::uint64_t>();
  header.timer_resolution = body.read<std::uint32_t>();
  body.skip(4);  // MaximumFileSize
  header.mode = body.read<std::uint32_t>();
  header.buffers_written = body.read<std::uint32_t>();
  body.skip(4);  // StartBuffers
  header.declared_pointer_size = body.read<std::uint32_t>();
  header.events_lost = body.read<std::uint32_t>();
  header.cpu_mhz = body.read<std::uint32_t>();
  body.skip(std::uint64_t{2} * header.pointer_size);  // two pointers that point nowhere
  header.minutes_west = static_cast<std::int32_t>(body.read<std::uint32_t>());
  body.skip(172 - 4 + 4);  // the rest of TIME_ZONE_INFORMATION, padding
  header.boot_filetime = body.read<std::uint64_t>();
  header.frequency = body.read<std::uint64_t>();
  header.start_filetime = body.read<std::uint64_t>();
  header.clock_type = body.read<std::uint32_t>();
  header.buffers_lost = body.read<std::uint32_t>();
}

}  // namespace

bool looks_like_etl(std::span<const std::byte> head) {
  if (head.size() < kBufferHeaderBytes + 8) {
    return false;
  }
  const BufferHeader header = parse_buffer_header(head);
  bytes::ByteCursor in(head.subspan(kBufferHeaderBytes), kBufferHeaderBytes);
  const auto marker = in.read<std::uint32_t>();
  in.skip(2);
  const auto type = in.read<std::uint8_t>();
  const auto group = in.read<std::uint8_t>();
  return header.size >= kBufferHeaderBytes + kSystemHeaderBytes && !header.compressed() &&
         header.type == kBufferLogHeader && is_log_header_event(marker, type, group);
}

CompressionFormat LogFileHeader::named_compression() const {
  if ((mode & kModeCompressed) == 0) {
    return CompressionFormat::kNone;
  }
  switch (header_state & 0xFFFF) {
    case 2:
      return CompressionFormat::kLznt1;
    case 4:
      return CompressionFormat::kXpressHuffman;
    default:
      return CompressionFormat::kXpress;
  }
}

Result<LogFileHeader> parse_log_file_header(std::span<const std::byte> head) {
  if (!looks_like_etl(head)) {
    return Error{ErrorCode::kUnsupported, 0, "etl: no log file header in the first buffer"};
  }
  LogFileHeader header;
  const BufferHeader buffer = parse_buffer_header(head);
  header.header_state = buffer.state;
  header.header_processor = buffer.processor;

  bytes::ByteCursor in(head, 0);
  in.seek(kBufferHeaderBytes);
  const auto marker = in.read<std::uint32_t>();
  header.pointer_size = ((marker >> 16) & 0xFF) == 1 ? 4 : 8;
  const auto event_size = in.read<std::uint16_t>();
  in.seek(kBufferHeaderBytes + 0x10);
  header.clock_origin = in.read<std::uint64_t>();
  if (!in.ok() || event_size < kSystemHeaderBytes) {
    return in.truncated("etl: log file header event");
  }
  in.seek(kBufferHeaderBytes + kSystemHeaderBytes);
  const std::uint64_t body_size = event_size - kSystemHeaderBytes;
  bytes::ByteCursor body = in.sub(body_size < in.remaining() ? body_size : in.remaining());

  read_numbers(body, header);
  if (!body.ok()) {
    return body.truncated("etl: log file header");
  }
  header.logger_name = read_wide_text(body);
  header.file_name = read_wide_text(body);
  return header;
}

}  // namespace stackpack::etl
