#include "codec/zstd_codec.h"

#include <algorithm>
#include <new>

#include <zstd.h>
#include <zstd_errors.h>

#include "bytes/byte_writer.h"

namespace stackpack::codec {

namespace {

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

constexpr std::uint32_t kSkippableMagic = 0x184D2A50;
constexpr std::size_t kBlockHeaderBytes = 3;

constexpr Error kOutOfMemory{ErrorCode::kResource, kNoOffset, "zstd: out of memory"};

bool is_out_of_memory(std::size_t code) {
  return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation;
}

// Compressing has no input that could be bad.
Error compression_error(std::size_t code) {
  return is_out_of_memory(code)
             ? kOutOfMemory
             : Error{ErrorCode::kInternal, kNoOffset, "zstd: compression failed"};
}

template <typename Context>
Context* or_bad_alloc(Context* context) {
  if (context == nullptr) {
    throw std::bad_alloc();
  }
  return context;
}

}  // namespace

struct ZstdCompressor::Context {
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> zstd{or_bad_alloc(ZSTD_createCCtx())};
};

ZstdCompressor::ZstdCompressor(int level) : context_(std::make_unique<Context>()) {
  ZSTD_CCtx_setParameter(context_->zstd.get(), ZSTD_c_compressionLevel, level);
}

ZstdCompressor::~ZstdCompressor() = default;

Status ZstdCompressor::compress(std::span<const std::byte> content, std::vector<std::byte>& frame) {
  frame.resize(ZSTD_compressBound(content.size()));
  const std::size_t size = ZSTD_compress2(context_->zstd.get(), frame.data(), frame.size(),
                                          content.data(), content.size());
  if (ZSTD_isError(size) != 0U) {
    return compression_error(size);
  }
  frame.resize(size);
  return {};
}

Status ZstdCompressor::compress_parts(std::span<const std::span<const std::byte>> parts,
                                      std::vector<std::byte>& frame) {
  std::size_t total = 0;
  for (const std::span<const std::byte> part : parts) {
    total += part.size();
  }
  ZSTD_CCtx* const zstd = context_->zstd.get();
  ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(zstd, total);
  // Each flush may add a block header and an uncompressed block.
  constexpr std::size_t kFlushBytes = 64;
  frame.resize(ZSTD_compressBound(total) + kFlushBytes * (parts.size() + 1));
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  for (const std::span<const std::byte> part : parts) {
    ZSTD_inBuffer in{part.data(), part.size(), 0};
    const std::size_t left = ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
    if (left != 0 || in.pos != in.size) {  // an error code is not zero either
      return compression_error(left);
    }
  }
  ZSTD_inBuffer none{nullptr, 0, 0};
  if (const std::size_t left = ZSTD_compressStream2(zstd, &out, &none, ZSTD_e_end); left != 0) {
    return compression_error(left);
  }
  frame.resize(out.pos);
  return {};
}

// RFC 8878: a frame of a single segment with four bytes of content size, and raw blocks.
void store_parts(std::span<const std::span<const std::byte>> parts, std::vector<std::byte>& frame) {
  constexpr std::uint32_t kMagic = 0xFD2FB528;
  constexpr std::uint8_t kSingleSegment = 0xA0;
  constexpr std::uint32_t kMostBlockBytes = std::uint32_t{1} << 17;
  bytes::ByteWriter content;
  for (const std::span<const std::byte> part : parts) {
    content.write_bytes(part);
  }
  bytes::ByteWriter out;
  out.write(kMagic);
  out.write(kSingleSegment);
  out.write(static_cast<std::uint32_t>(content.size()));
  std::span<const std::byte> left = content.bytes();
  do {
    const auto block = left.first(std::min<std::size_t>(left.size(), kMostBlockBytes));
    left = left.subspan(block.size());
    const std::uint32_t head =
        static_cast<std::uint32_t>(block.size()) << 3 | (left.empty() ? 1 : 0);
    out.write(static_cast<std::uint16_t>(head));
    out.write(static_cast<std::uint8_t>(head >> 16));
    out.write_bytes(block);
  } while (!left.empty());
  frame = out.take();
}

struct ZstdDecompressor::Context {
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> zstd{or_bad_alloc(ZSTD_createDCtx())};
};

ZstdDecompressor::ZstdDecompressor() : context_(std::make_unique<Context>()) {}
ZstdDecompressor::~ZstdDecompressor() = default;

Status ZstdDecompressor::decompress(std::span<const std::byte> frame,
                                    std::span<std::byte> content) {
  const std::size_t size = ZSTD_decompressDCtx(context_->zstd.get(), content.data(), content.size(),
                                               frame.data(), frame.size());
  if (is_out_of_memory(size)) {
    return kOutOfMemory;
  }
  if (ZSTD_isError(size) != 0U || size != content.size()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "zstd: frame is damaged or of another size"};
  }
  return {};
}

struct ZstdStream::Context {
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> zstd{or_bad_alloc(ZSTD_createDCtx())};
  bool frame_ended = false;
};

ZstdStream::ZstdStream(int window_log_max) : context_(std::make_unique<Context>()) {
  ZSTD_DCtx_setParameter(context_->zstd.get(), ZSTD_d_windowLogMax, window_log_max);
}

ZstdStream::~ZstdStream() = default;

Result<std::size_t> ZstdStream::decode(std::span<const std::byte>& input, std::size_t room,
                                       std::vector<std::byte>& output) {
  const std::size_t old_size = output.size();
  output.resize(old_size + room);
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  ZSTD_outBuffer out{output.data() + old_size, room, 0};
  while (out.pos < out.size) {
    const std::size_t before_in = in.pos;
    const std::size_t before_out = out.pos;
    const std::size_t code = ZSTD_decompressStream(context_->zstd.get(), &out, &in);
    if (ZSTD_isError(code) != 0U) {
      output.resize(old_size + out.pos);
      input = input.subspan(in.pos);
      if (is_out_of_memory(code)) {
        return kOutOfMemory;
      }
      return Error{ErrorCode::kCorrupt, kNoOffset, "zstd: stream is damaged"};
    }
    // The decoder asks for the header of the next block, or for nothing after the last one.
    between_blocks_ = code == 0 || code == kBlockHeaderBytes;
    if (in.pos == before_in && out.pos == before_out) {
      break;
    }
    context_->frame_ended = code == 0;
  }
  output.resize(old_size + out.pos);
  input = input.subspan(in.pos);
  return out.pos;
}

bool ZstdStream::at_frame_end() const {
  return context_->frame_ended;
}

void ZstdStream::reset() {
  context_->frame_ended = false;
  between_blocks_ = true;
  ZSTD_DCtx_reset(context_->zstd.get(), ZSTD_reset_session_only);
}

void append_skippable_frame(unsigned nibble, std::span<const std::byte> content,
                            std::vector<std::byte>& out) {
  bytes::ByteWriter header;
  header.write(kSkippableMagic + nibble);
  header.write(static_cast<std::uint32_t>(content.size()));
  out.insert(out.end(), header.bytes().begin(), header.bytes().end());
  out.insert(out.end(), content.begin(), content.end());
}

}  // namespace stackpack::codec
