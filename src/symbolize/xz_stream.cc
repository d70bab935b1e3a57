#include "symbolize/xz_stream.h"

#include <cstdint>
#include <new>

#include <lzma.h>

namespace stackpack::symbolize {

std::string unpack_xz(std::span<const std::byte> packed) {
  std::string content;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (::lzma_stream_decoder(&stream, kMostUnpackedBytes, 0) != LZMA_OK) {
    throw std::bad_alloc();  // nothing was read yet
  }
  stream.next_in = static_cast<const std::uint8_t*>(static_cast<const void*>(packed.data()));
  stream.avail_in = packed.size();
  constexpr std::size_t kStep = std::size_t{1} << 20;
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK && content.size() < kMostUnpackedBytes) {
    const std::size_t had = content.size();
    content.resize(had + kStep);
    stream.next_out = static_cast<std::uint8_t*>(static_cast<void*>(content.data())) + had;
    stream.avail_out = kStep;
    state = ::lzma_code(&stream, LZMA_FINISH);
    content.resize(had + kStep - stream.avail_out);
  }
  ::lzma_end(&stream);
  if (state == LZMA_MEM_ERROR) {
    throw std::bad_alloc();
  }
  if (state != LZMA_STREAM_END) {
    content.clear();
  }
  return content;
}

}  // namespace stackpack::symbolize
