#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "capture/loss_counters.h"
#include "formats/etl/file/buffer_header.h"
#include "formats/etl/file/buffer_index.h"
#include "formats/etl/file/log_file_header.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// What is wrong with a buffer as a whole.
enum class BufferDamage : std::uint8_t {
  kNone,
  kNoSize,           ///< SavedOffset and Offset leave no room for events
  kTooLarge,         ///< claims more bytes of events than a buffer may hold: they are not read
  kSizeExceedsDisk,  ///< uncompressed, and claims more bytes than the buffer has: cut to it
  kCutByFileEnd,     ///< the file ends inside: what is there is read
  kUnusedPartCut,    ///< the file ends inside, but after the events: nothing is lost
  kBadCompression,   ///< the compressed body does not decode: the buffer is lost
  kNotEvents,        ///< of a type that holds no events: passed over
  kWrongType,        ///< of such a type, and yet full of events: they are read
  kInputLeft,        ///< decompressed with input to spare: a wrong symbol before has made too much
  kSizesDisagree,    ///< SavedOffset and Offset differ: events may lie after the one that is used
};

/// The events of one buffer, ready to be walked over. Reused: its memory stays.
struct DecodedBuffer {
  IndexedBuffer where;
  BufferHeader header;
  BufferDamage damage = BufferDamage::kNone;
  std::uint64_t disk_bytes = 0;  ///< bytes of the buffer that the file has, header included
  std::size_t event_bytes = 0;
  std::vector<std::byte> memory;  ///< event_bytes of events, then slack
  std::vector<std::byte> packed;  ///< scratch: the compressed body

  /// Whether the body was decompressed, to its last byte.
  [[nodiscard]] bool sound() const {
    return damage == BufferDamage::kNone || damage == BufferDamage::kWrongType ||
           damage == BufferDamage::kSizesDisagree;
  }
  [[nodiscard]] std::span<const std::byte> events() const {
    return std::span(memory).first(event_bytes);
  }
  [[nodiscard]] std::size_t memory_bytes() const { return memory.capacity() + packed.capacity(); }
};

/// Reads buffers and decompresses them. Const and without state of its own after the format is
/// set: any thread may decode, each into its own DecodedBuffer.
class BufferDecoder {
 public:
  BufferDecoder(io::ByteSource& input, CompressionFormat format, std::uint64_t max_buffer_bytes);

  /// Reads one buffer. Damage is a matter of `out`, not an error.
  /// Errors: kIo.
  Status decode(const IndexedBuffer& buffer, DecodedBuffer& out) const;

  /// Finds out which compression the file really uses, by some of its compressed buffers, and uses
  /// that one from now on. The name in the header is tried first; where another format proves
  /// right, `losses` says so.
  Status detect_format(std::span<const IndexedBuffer> compressed, capture::LossCounters& losses);

  [[nodiscard]] CompressionFormat format() const { return format_; }

 private:
  Status decode_events(const IndexedBuffer& buffer, DecodedBuffer& out) const;
  Status read_events(const IndexedBuffer& buffer, std::size_t body_bytes, DecodedBuffer& out) const;
  Status unpack_events(const IndexedBuffer& buffer, std::size_t body_bytes,
                       DecodedBuffer& out) const;
  Status read_body(const IndexedBuffer& buffer, std::vector<std::byte>& body,
                   std::size_t body_bytes) const;

  io::ByteSource& input_;
  CompressionFormat format_;
  std::uint64_t max_buffer_bytes_;
  std::uint64_t file_size_;
};

std::string_view name_of(CompressionFormat format);

}  // namespace stackpack::etl
