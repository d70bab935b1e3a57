#include "codec/gzip_codec.h"

#include <algorithm>
#include <limits>
#include <new>

#define ZLIB_CONST
#include <zlib.h>

namespace stackpack::codec {

namespace {

constexpr int kGzipWindow = 15 + 16;  // largest window, gzip header and trailer
constexpr std::size_t kOutputStep = std::size_t{1} << 16;

const Bytef* input_bytes(const std::byte* bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zlib speaks of unsigned char
  return reinterpret_cast<const Bytef*>(bytes);
}

Bytef* output_bytes(std::byte* bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zlib speaks of unsigned char
  return reinterpret_cast<Bytef*>(bytes);
}

// zlib counts in 32 bits.
uInt clamp(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct GzipCompressor::Context {
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { deflateEnd(&stream); }
  z_stream stream{};
};

GzipCompressor::GzipCompressor(int level) : context_(std::make_unique<Context>()) {
  // With these parameters nothing but memory can be missing.
  if (deflateInit2(&context_->stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
}

GzipCompressor::~GzipCompressor() = default;

void GzipCompressor::run(std::span<const std::byte> content, int flush,
                         std::vector<std::byte>& output) {
  z_stream& stream = context_->stream;
  int code = Z_OK;
  do {
    const std::size_t step = clamp(content.size());
    stream.next_in = input_bytes(content.data());
    stream.avail_in = static_cast<uInt>(step);
    const std::size_t old_size = output.size();
    output.resize(old_size + kOutputStep);
    stream.next_out = output_bytes(output.data() + old_size);
    stream.avail_out = static_cast<uInt>(kOutputStep);
    code = deflate(&stream, step == content.size() ? flush : Z_NO_FLUSH);
    content = content.subspan(step - stream.avail_in);
    output.resize(output.size() - stream.avail_out);
  } while (!content.empty() || (flush == Z_FINISH && code == Z_OK));
}

void GzipCompressor::append(std::span<const std::byte> content, std::vector<std::byte>& output) {
  if (!content.empty()) {
    run(content, Z_NO_FLUSH, output);
  }
}

void GzipCompressor::finish(std::vector<std::byte>& output) {
  run({}, Z_FINISH, output);
}

struct GzipDecompressor::Context {
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { inflateEnd(&stream); }
  z_stream stream{};
  bool member_ended = false;
};

GzipDecompressor::GzipDecompressor() : context_(std::make_unique<Context>()) {
  if (inflateInit2(&context_->stream, kGzipWindow) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipDecompressor::~GzipDecompressor() = default;

bool GzipDecompressor::at_member_end() const {
  return context_->member_ended;
}

Result<std::size_t> GzipDecompressor::decode(std::span<const std::byte>& input, std::size_t room,
                                             std::vector<std::byte>& output) {
  z_stream& stream = context_->stream;
  const std::size_t old_size = output.size();
  output.resize(old_size + room);
  std::size_t done = 0;
  int code = Z_OK;
  while (done < room && code == Z_OK) {
    if (context_->member_ended) {
      if (input.empty()) {
        break;
      }
      inflateReset(&stream);
      context_->member_ended = false;
    }
    const uInt in_step = clamp(input.size());
    const uInt out_step = clamp(room - done);
    stream.next_in = input_bytes(input.data());
    stream.avail_in = in_step;
    stream.next_out = output_bytes(output.data() + old_size + done);
    stream.avail_out = out_step;
    code = inflate(&stream, Z_NO_FLUSH);
    input = input.subspan(in_step - stream.avail_in);
    done += out_step - stream.avail_out;
    if (code == Z_STREAM_END) {
      context_->member_ended = true;
      code = Z_OK;
    } else if (input.empty() && stream.avail_out != 0) {
      break;
    }
  }
  output.resize(old_size + done);
  if (code == Z_MEM_ERROR) {
    return Error{ErrorCode::kResource, kNoOffset, "gzip: out of memory"};
  }
  if (code != Z_OK && code != Z_BUF_ERROR) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "gzip: stream is damaged"};
  }
  return done;
}

Status inflate_zlib(std::span<const std::byte> stream, std::span<std::byte> content) {
  z_stream state{};
  if (inflateInit(&state) != Z_OK) {
    return Error{ErrorCode::kResource, kNoOffset, "zlib: out of memory"};
  }
  state.next_in = input_bytes(stream.data());
  state.avail_in = clamp(stream.size());
  state.next_out = output_bytes(content.data());
  state.avail_out = clamp(content.size());
  const int code = inflate(&state, Z_FINISH);
  const bool whole = code == Z_STREAM_END && state.total_out == content.size();
  inflateEnd(&state);
  return whole ? Status() : Error{ErrorCode::kCorrupt, kNoOffset, "zlib: stream is damaged"};
}

bool looks_like_gzip(std::span<const std::byte> head) {
  return head.size() >= 2 && head[0] == std::byte{0x1F} && head[1] == std::byte{0x8B};
}

struct DeflateDecoder::Context {
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { inflateEnd(&stream); }
  z_stream stream{};
  bool ended = false;
};

DeflateDecoder::DeflateDecoder() : context_(std::make_unique<Context>()) {
  constexpr int kBareWindow = -15;  // the largest; negative: without header and trailer
  if (inflateInit2(&context_->stream, kBareWindow) != Z_OK) {
    throw std::bad_alloc();
  }
}

DeflateDecoder::~DeflateDecoder() = default;

bool DeflateDecoder::ended() const {
  return context_->ended;
}

Result<std::size_t> DeflateDecoder::decode(std::span<const std::byte>& input,
                                           std::span<std::byte> output) {
  z_stream& stream = context_->stream;
  const uInt input_step = clamp(input.size());
  const uInt output_step = clamp(output.size());
  stream.next_in = static_cast<const Bytef*>(static_cast<const void*>(input.data()));
  stream.avail_in = input_step;
  stream.next_out = static_cast<Bytef*>(static_cast<void*>(output.data()));
  stream.avail_out = output_step;
  const int code = context_->ended ? Z_OK : inflate(&stream, Z_NO_FLUSH);
  input = input.subspan(input_step - stream.avail_in);
  context_->ended |= code == Z_STREAM_END;
  if (code == Z_MEM_ERROR) {
    return Error{ErrorCode::kResource, kNoOffset, "deflate: out of memory"};
  }
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "deflate: stream is damaged"};
  }
  return output_step - stream.avail_out;
}

}  // namespace stackpack::codec
