#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::symbolize {

/// The container of a PDB, MSF 7.00: numbered streams, each a list of blocks of the file.
///
/// Memory: four bytes a block, at most a thousandth of the file; streams are read when asked for.
/// Rule:   no block is in two streams, so the streams together are not larger than the file: a
///         size of a stream is a size that memory may be reserved for.
class MsfFile {
 public:
  /// `source` is seekable and must outlive this.
  /// Errors: kUnsupported names the other containers that have this file name ending; kCorrupt,
  ///         kTruncated; kIo.
  static Result<MsfFile> open(io::ByteSource& source);

  [[nodiscard]] std::size_t stream_count() const { return streams_.size(); }

  /// Bytes of a stream; 0 for one that does not exist.
  [[nodiscard]] std::uint32_t stream_size(std::uint32_t stream) const;

  /// Where a byte of a stream lies in the file; kNoOffset past its end.
  [[nodiscard]] std::uint64_t file_offset(std::uint32_t stream, std::uint64_t offset) const;

  /// Bytes [offset, offset + size) of a stream, in place of what `into` has.
  /// Errors: kTruncated when the stream is shorter; kIo.
  Status read(std::uint32_t stream, std::uint64_t offset, std::uint64_t size,
              std::vector<std::byte>& into) const;

 private:
  struct Stream {
    std::uint32_t size = 0;
    std::size_t first_block = 0;  // in blocks_
  };

  Status open_directory(std::uint64_t directory_size, std::uint64_t map_block);
  Status read_directory(std::span<const std::byte> directory, std::uint64_t file_offset);

  io::ByteSource* source_ = nullptr;
  std::uint32_t block_size_ = 0;
  std::uint32_t block_count_ = 0;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> blocks_;  // of all streams, one after the other
};

/// A record of a stream of records: symbols and types have the same frame.
struct PdbRecord {
  std::uint16_t kind = 0;
  std::uint64_t offset = 0;  ///< of its length field in the stream
  bytes::ByteCursor body;    ///< what follows the kind; valid during the visit
};

/// Visits the records of a stream in [begin, end), which it reads in pieces, until `visit` returns
/// false. Errors: kCorrupt where a record has no room for its kind or reaches past `end`; kIo.
Status each_pdb_record(const MsfFile& file, std::uint32_t stream, std::uint64_t begin,
                       std::uint64_t end, const std::function<bool(const PdbRecord&)>& visit);

}  // namespace stackpack::symbolize
