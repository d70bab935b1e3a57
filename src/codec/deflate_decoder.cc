#include "codec/deflate_decoder.h"

#include <algorithm>
#include <limits>
#include <new>

#define ZLIB_CONST
#include <zlib.h>

namespace stackpack::codec {

namespace {

// zlib counts in 32 bits.
uInt step_of(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

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
  const uInt in_step = step_of(input.size());
  const uInt out_step = step_of(output.size());
  stream.next_in = static_cast<const Bytef*>(static_cast<const void*>(input.data()));
  stream.avail_in = in_step;
  stream.next_out = static_cast<Bytef*>(static_cast<void*>(output.data()));
  stream.avail_out = out_step;
  const int code = context_->ended ? Z_OK : inflate(&stream, Z_NO_FLUSH);
  input = input.subspan(in_step - stream.avail_in);
  context_->ended |= code == Z_STREAM_END;
  if (code == Z_MEM_ERROR) {
    return Error{ErrorCode::kResource, kNoOffset, "deflate: out of memory"};
  }
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "deflate: stream is damaged"};
  }
  return out_step - stream.avail_out;
}

}  // namespace stackpack::codec
