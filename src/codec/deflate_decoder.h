#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "stackpack/result.h"

namespace stackpack::codec {

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
