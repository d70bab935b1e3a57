// Walks over the objects of versions 1-4 or the blocks of version 6.
//
//   version 4   05 05 01 | i32 version | i32 least version | i32 n | n bytes name | 06 | content |
//   06
//               content: i32 size, zeros up to a multiple of 4 of the file offset, bytes; that of
//               the first object, "Trace", has a fixed size. 01 in place of 05 ends the stream.
//   version 3   the same with 04 in place of 05; the events of versions 1 and 2 follow the first
//               object without another one, and a trailer of file offsets follows them.
//   version 6   u32 size (24 bits) and kind (8 bits) | bytes
//
// Source: NetTraceFormat.md and NetPerfFormat.md of microsoft/perfview.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/byte_account.h"
#include "capture/loss_counters.h"
#include "formats/nettrace/trace_header.h"
#include "io/buffered_reader.h"
#include "stackpack/result.h"

namespace stackpack::nettrace {

enum class BlockKind : std::uint8_t {
  kEndOfStream = 0,
  kTrace = 1,
  kEvents = 2,
  kMetadata = 3,
  kSequencePoint = 4,
  kStacks = 5,
  kThreads = 6,
  kRemovedThreads = 7,
  kLabels = 8,
  kUnknown = 255,
};

struct Block {
  BlockKind kind = BlockKind::kUnknown;
  std::uint64_t offset = 0;  ///< of its content in the file
  std::span<const std::byte> content;
  bool whole = true;  ///< false: the file ends within it, or it is larger than any block may be
};

/// Gives block after block. What follows a place where the structure is lost cannot be read: it is
/// counted.
///
/// Memory: one block, kMostBlock bytes at most, which grows as bytes come.
class BlockReader {
 public:
  static constexpr std::size_t kMostBlock = std::size_t{64} << 20;

  BlockReader(io::ByteSource& source, capture::LossCounters& losses);

  /// The head of the stream and the description of the trace. Once, first.
  /// Errors: kUnsupported, kTruncated, kCorrupt: nothing can be read; those of reading.
  Result<TraceHeader> open();

  /// The next block, whose content is valid until the next call; false at the end.
  /// Errors: those of reading.
  Result<bool> next(Block& block);

  /// Where the bytes went; after next() gave false.
  [[nodiscard]] const capture::ByteAccount& account() const { return account_; }

  [[nodiscard]] std::uint64_t offset() const { return reader_.offset(); }

 private:
  Result<TraceHeader> open_object();
  Result<bool> next_object(Block& block);
  Result<bool> next_block(Block& block);
  static std::size_t pass_whole_rows(bytes::ByteCursor& in, std::uint64_t& size);
  Result<bool> next_rows(Block& block);
  Result<bool> object_content(Block& block);
  Result<bool> read_content(std::uint64_t size, Block& block);
  bool end_is_plausible(std::uint32_t word);
  Result<bool> end_tag();
  Result<bool> structure_lost(std::string_view why, std::uint64_t where);
  Result<bool> end_of_file();
  Result<bool> after_the_end();
  Result<bool> is_trailer(std::span<const std::byte> rest);
  Status pass_rest(capture::SkipReason reason, std::uint64_t counted_before);
  void parsed_up_to_here();

  io::BufferedReader reader_;
  capture::LossCounters& losses_;
  capture::ByteAccount account_;
  std::vector<std::byte> large_;  // a block that the reader's window does not hold
  std::uint64_t begin_ = 0;       // of the object or block, which is not in the account yet
  std::uint64_t in_content_ = 0;  // bytes of the reader's window that the last block has
  std::uint32_t version_ = 0;
  bool is_nettrace_ = false;
  bool open_object_ = false;  // its last tag was not read yet
  bool ended_ = false;
  bool damaged_ = false;
};

}  // namespace stackpack::nettrace
