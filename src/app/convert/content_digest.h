#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bytes/hash_stream.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Tells captures apart by their size, the first 4 KiB of every MiB, and the last 4 KiB: soon found
/// out, without reading it all.
///
/// A stream that passes by and a file that is read at offsets give the same digest. Of a large file
/// 0.4 % is read, so a change elsewhere is not noticed: who relies on it looks at modification
/// times besides.
class ContentDigest {
 public:
  /// The next bytes of the stream.
  void add(std::span<const std::byte> bytes);

  /// After the last byte.
  [[nodiscard]] std::string finish() const;

  /// The digest of a whole seekable source. Errors: those of reading.
  static Result<std::string> of(io::ByteSource& source);

 private:
  static constexpr std::uint64_t kStride = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kPart = 4096;

  void keep_last(std::span<const std::byte> bytes);

  std::uint64_t size_ = 0;
  bytes::HashStream hash_;
  std::array<std::byte, kPart> last_{};  // a ring of the last bytes
};

/// Passes on what `stream` gives and shows it to `digest`, which must outlive it. Not seekable.
std::unique_ptr<io::ByteSource> digested_stream(std::unique_ptr<io::ByteSource> stream,
                                                ContentDigest& digest);

}  // namespace stackpack::app
