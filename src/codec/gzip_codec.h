#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::codec {

/// Compresses one gzip member that arrives in pieces. The header has no time and no name: the same
/// content gives the same bytes.
class GzipCompressor {
 public:
  explicit GzipCompressor(int level = 6);
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;
  ~GzipCompressor();

  /// Compresses `content`; what is ready is appended to `output`.
  void append(std::span<const std::byte> content, std::vector<std::byte>& output);

  /// Ends the member. Nothing may be appended after.
  void finish(std::vector<std::byte>& output);

 private:
  struct Context;
  void run(std::span<const std::byte> content, int flush, std::vector<std::byte>& output);
  std::unique_ptr<Context> context_;
};

/// Decodes gzip that arrives in pieces, any number of members one after another.
/// Memory: the window of deflate, 32 KiB; a caller bounds the output by `room`.
class GzipDecompressor {
 public:
  GzipDecompressor();
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;
  ~GzipDecompressor();

  /// Takes bytes from the front of `input` (which is advanced) and appends at most `room` decoded
  /// bytes to `output`. Call again while `input` is not empty or the call filled the room.
  /// Result: bytes appended; kCorrupt for a damaged stream (the decoder is of no more use then).
  Result<std::size_t> decode(std::span<const std::byte>& input, std::size_t room,
                             std::vector<std::byte>& output);

  /// True when the input so far ends with a whole member.
  [[nodiscard]] bool at_member_end() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Decompresses one zlib stream, as sections of ELF files have them, whose content's size the
/// caller knows from elsewhere and has checked. Fills `content` exactly. Errors: kCorrupt when the
/// stream is damaged or of another size; kResource.
Status inflate_zlib(std::span<const std::byte> stream, std::span<std::byte> content);

/// True when `head` begins as gzip does (2 bytes).
bool looks_like_gzip(std::span<const std::byte> head);

/// Decodes one stream of deflate without a header, as members of zip archives are packed.
/// Memory: the window of deflate, 32 KiB.
class DeflateDecoder {
 public:
  DeflateDecoder();
  DeflateDecoder(const DeflateDecoder&) = delete;
  DeflateDecoder& operator=(const DeflateDecoder&) = delete;
  ~DeflateDecoder();

  /// Takes bytes from the front of `input` (which is advanced) and decodes them into `output`.
  /// Result: bytes decoded, fewer than there is room for only where the input or the stream ends;
  /// kCorrupt for a damaged stream (the decoder is of no more use then); kResource.
  Result<std::size_t> decode(std::span<const std::byte>& input, std::span<std::byte> output);

  /// True when the stream has come to its end.
  [[nodiscard]] bool ended() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace stackpack::codec
