#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/gzip_codec.h"
#include "formats/protobuf/message_view.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::pprof {

/// One field of a message: a number, or bytes.
struct Field : protobuf::FieldHead {
  std::span<const std::byte> bytes;  ///< valid until the next call of next()
};

// How a message is looked at.
using protobuf::bytes;
using protobuf::message_of;
using protobuf::number;

/// The fields of the outermost message of a protobuf file, one after another; the file may be
/// compressed with gzip.
///
/// Memory: one field and a window. Errors: those of the source; kCorrupt, kTruncated where the
/// sequence of fields or the compressed stream breaks; kLimit for a field larger than allowed.
class MessageStream {
 public:
  /// `source` must be seekable and outlive the stream.
  MessageStream(io::ByteSource& source, std::size_t max_field_bytes);

  /// Reads the next field; false at the end.
  Result<bool> next(Field& field);

  /// Bytes of the source read so far.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  /// Bytes of the source up to the end of the last whole field, or of the last part of a compressed
  /// stream that was decoded for it.
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }

 private:
  [[nodiscard]] std::span<const std::byte> window() const {
    return std::span<const std::byte>(plain_).subspan(begin_);
  }
  Result<bool> read_field(Field& field);
  Status fill(std::size_t size);
  Status read_more();

  io::ByteSource& source_;
  std::size_t max_field_bytes_;
  std::unique_ptr<codec::GzipDecompressor> gzip_;
  std::vector<std::byte> input_;  // compressed, not yet decoded
  std::size_t input_begin_ = 0;
  std::vector<std::byte> plain_;
  std::size_t begin_ = 0;  // of what is not yet consumed in plain_
  std::uint64_t offset_ = 0;
  std::uint64_t consumed_ = 0;
  bool at_end_ = false;
  bool started_ = false;
};

}  // namespace stackpack::pprof
