#include "formats/etl/file/buffer_header.h"

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

BufferHeader parse_buffer_header(std::span<const std::byte> bytes) {
  bytes::ByteCursor in(bytes, 0);
  BufferHeader header;
  header.size = in.read<std::uint32_t>();
  header.saved_offset = in.read<std::uint32_t>();
  in.seek(0x18);
  header.sequence = in.read<std::uint64_t>();
  in.seek(0x28);
  header.processor = in.read<std::uint16_t>();
  in.seek(0x2C);
  header.state = in.read<std::uint32_t>();
  header.offset = in.read<std::uint32_t>();
  header.flags = in.read<std::uint16_t>();
  header.type = in.read<std::uint16_t>();
  if ((header.flags & kBufferWideProcessor) == 0) {
    header.processor &= 0xFF;
  }
  return header;
}

}  // namespace stackpack::etl
