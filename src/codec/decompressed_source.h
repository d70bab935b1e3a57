#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::codec {

/// How far compressed input may grow. Captures shrink to a twentieth, seldom to a hundredth; what
/// grows further is a bomb, and would fill the disk with scratch files.
inline constexpr std::uint64_t kMostGrowth = 256;
/// Small inputs may be anything: a trace of empty buffers shrinks to nothing.
inline constexpr std::uint64_t kFreeGrowth = std::uint64_t{64} << 20;

/// Whether `unpacked` bytes are more than `packed` bytes may become.
constexpr bool grows_too_much(std::uint64_t unpacked, std::uint64_t packed) {
  return unpacked > kFreeGrowth && (unpacked - kFreeGrowth) / kMostGrowth > packed;
}

/// Ways in which a whole file may be compressed.
enum class FileCompression : std::uint8_t { kNone, kGzip, kZstd, kXz };

/// Bytes that compression_of() wants to see.
inline constexpr std::size_t kCompressionHeadBytes = 6;

/// How a file that begins with `head` is compressed.
FileCompression compression_of(std::span<const std::byte> head);

/// Where a compressed stream broke off.
struct StreamDamage {
  std::optional<Error> error;  ///< offset: in the compressed bytes
};

/// Decompresses gzip or zstd as it is read, any number of members or frames. Not seekable.
///
/// Damage:  what comes before it is given, then the stream ends and `damage` says why.
/// Memory:  fixed windows: at most the 128 MiB that a zstd frame may ask for, and 1 MiB.
/// Errors:  of read(): those of `packed`; kLimit when the content grows beyond growth_limit.h;
///          kResource.
/// `damage` must outlive the source.
std::unique_ptr<io::ByteSource> decompressed_source(std::unique_ptr<io::ByteSource> packed,
                                                    FileCompression compression,
                                                    StreamDamage& damage);

/// Decompresses the beginning of a file, of which `head` is the first part: at most `size` bytes.
/// What cannot be decompressed ends it. Errors: kResource.
Result<std::vector<std::byte>> decompressed_head(std::span<const std::byte> head,
                                                 FileCompression compression, std::size_t size);

}  // namespace stackpack::codec
