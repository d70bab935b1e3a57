#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytes/hash.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Passes on what a source gives and hashes all of its bytes, in their order, as they pass.
///
/// What is read where the hashed part ends is hashed from the reader's memory. A reader that goes
/// on beyond that leaves a gap: once it is large enough to be worth a read of its own it is read
/// again. What a reader never came to is read by finish(). So one that reads a file from its
/// beginning to its end costs the hash alone, and the other orders one more read of what they
/// passed over. Memory:  one block of 256 KiB, from the first gap on. Threads: as ByteSource.
class HashedSource final : public io::ByteSource {
 public:
  /// `source`: a stream is read from where it stands.
  explicit HashedSource(std::unique_ptr<io::ByteSource> source);

  Result<std::size_t> read(std::span<std::byte> into) override;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override;
  [[nodiscard]] bool seekable() const override { return source_->seekable(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return source_->size(); }

  /// XXH3 (128 bits) of all bytes, after reading what is left of them. Nothing when a file has
  /// become shorter, or when what is left of a compressed stream is damaged. Errors: those of
  /// reading.
  Result<std::optional<std::array<std::byte, 16>>> finish();

 private:
  void pass(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<bool> hash_up_to(std::uint64_t end);
  Status hash_rest_of_stream();

  std::unique_ptr<io::ByteSource> source_;
  std::uint64_t position_ = 0;  // of read()
  std::mutex mutex_;            // guards what follows
  bytes::HashStream hash_;
  std::uint64_t hashed_ = 0;  // bytes of the beginning that are in the hash
  std::vector<std::byte> block_;
};

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
