#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::codec {

/// Compresses blocks, each into one standard zstd frame which states its content size.
/// Threads: one at a time per object. Keeps its context between calls.
class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level);
  ZstdCompressor(const ZstdCompressor&) = delete;
  ZstdCompressor& operator=(const ZstdCompressor&) = delete;
  ~ZstdCompressor();

  /// Replaces the content of `frame`.
  Status compress(std::span<const std::byte> content, std::vector<std::byte>& frame);

  /// The same for a content that is given in parts. Each part begins a zstd block, so that bytes of
  /// different statistics do not share entropy tables; the content is the parts joined.
  Status compress_parts(std::span<const std::span<const std::byte>> parts,
                        std::vector<std::byte>& frame);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Makes one standard zstd frame, which states its content size, of parts that are not compressed:
/// less than 4 GiB. Replaces the content of `frame`.
void store_parts(std::span<const std::span<const std::byte>> parts, std::vector<std::byte>& frame);

/// Decompresses one frame whose content size the caller knows from elsewhere and has checked.
/// Threads: one at a time per object.
class ZstdDecompressor {
 public:
  ZstdDecompressor();
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;
  ~ZstdDecompressor();

  /// Fills `content` exactly; kCorrupt when the frame is damaged or of another size.
  Status decompress(std::span<const std::byte> frame, std::span<std::byte> content);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Decodes one endless zstd stream that arrives in pieces.
/// Memory: the window of the stream, at most 2^window_log_max bytes; larger windows are kLimit.
class ZstdStream {
 public:
  explicit ZstdStream(int window_log_max = 27);
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream();

  /// Takes bytes from the front of `input` (which is advanced) and appends at most `room` decoded
  /// bytes to `output`. Call again while `input` is not empty or the call filled the room.
  /// Result: bytes appended; kCorrupt for a damaged stream (the decoder is of no more use then).
  Result<std::size_t> decode(std::span<const std::byte>& input, std::size_t room,
                             std::vector<std::byte>& output);

  /// True when the input so far ends with a whole frame.
  [[nodiscard]] bool at_frame_end() const;

  /// Whether all input was used up to the end of a block or of a frame: what was fed is decoded.
  [[nodiscard]] bool between_blocks() const { return between_blocks_; }

  /// Forgets everything: the next input begins a new stream.
  void reset();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  bool between_blocks_ = true;
};

/// Appends a zstd skippable frame (magic 0x184D2A50 + `nibble`) around `content`.
void append_skippable_frame(unsigned nibble, std::span<const std::byte> content,
                            std::vector<std::byte>& out);

}  // namespace stackpack::codec
