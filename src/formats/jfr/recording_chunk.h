#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "formats/jfr/value_reader.h"
#include "io/buffered_reader.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::jfr {

inline constexpr std::uint32_t kMagic = 0x464C5200;  ///< "FLR", most significant byte first
inline constexpr std::size_t kHeaderBytes = 68;

/// What the head of a chunk says.
///
/// Layout, most significant byte first: u32 magic; u16 major, minor; u64 size, offset of the last
/// checkpoint, offset of the metadata, start in ns since 1970, duration in ns, start in ticks,
/// ticks a second; u32 state and flags, of which bit 0 says that integers are compressed.
struct ChunkHeader {
  std::uint64_t begin = 0;  ///< offset in the file
  std::uint64_t end = 0;    ///< that of the byte after it
  bool finished = false;    ///< it says its size, and the file has as many bytes
  std::uint64_t start_ns = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t ticks_per_second = 0;
  NumberCoding coding;

  /// Ticks as nanoseconds.
  [[nodiscard]] std::uint64_t length_ns(std::uint64_t ticks) const;
  /// Ticks of the clock as nanoseconds since 1970.
  [[nodiscard]] std::uint64_t time_ns(std::uint64_t ticks) const;
};

/// Errors: kCorrupt, kUnsupported, kTruncated; those of the source.
Result<ChunkHeader> read_chunk_header(io::ByteSource& source, std::uint64_t begin,
                                      std::uint64_t total);

/// The events of a chunk, one after another. Each begins with its size and its type.
class ChunkEvents {
 public:
  static constexpr std::size_t kWindow = std::size_t{1} << 20;

  struct Event {
    std::uint64_t offset = 0;  ///< in the file
    std::uint64_t size = 0;    ///< with its head
    std::uint64_t head = 0;    ///< bytes of size and type
    std::uint64_t type = 0;
  };

  ChunkEvents(io::ByteSource& source, const ChunkHeader& chunk)
      : chunk_(chunk), in_(source, chunk.begin + kHeaderBytes, chunk.end, kWindow) {}

  /// The next event, the one before being passed over. False: there are no more, or what follows
  /// is no event.
  Result<bool> next(Event& event);

  /// The payload of the present event; empty when it is larger than kWindow or the file ends in it.
  /// Valid until the next call.
  Result<std::span<const std::byte>> payload();

  /// Where the next event begins, or the bytes that are none.
  [[nodiscard]] std::uint64_t offset() const { return in_.offset(); }

 private:
  const ChunkHeader& chunk_;
  io::BufferedReader in_;
  Event event_;
};

/// The payload of an event of any size up to `max_bytes`. Errors: kLimit; those of the source.
Result<std::vector<std::byte>> read_payload(io::ByteSource& source, const ChunkEvents::Event& event,
                                            std::uint64_t max_bytes);

}  // namespace stackpack::jfr
