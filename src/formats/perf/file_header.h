#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes/byte_cursor.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// How the bytes after the magic are laid out.
enum class Container : std::uint8_t { kNotPerf, kFile, kPipe };

/// Bytes of a capture that detect() wants to see (fewer for a shorter capture).
inline constexpr std::size_t kDetectBytes = 16;

/// Recognizes a perf.data capture by its first bytes; either byte order.
Container detect(std::span<const std::byte> head);

/// A byte range of a perf.data file. Taken from the input: may lie anywhere.
struct FileSection {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The magic and the header size: all that a pipe has before its records.
struct FileMagic {
  Container container = Container::kNotPerf;
  bytes::ByteOrder order = bytes::ByteOrder::kLittle;
  std::uint64_t header_size = 0;  ///< 0: not there
};

/// Reads up to kDetectBytes from the start of a capture.
FileMagic read_magic(std::span<const std::byte> head);

/// Bytes of the header of a pipe.
inline constexpr std::uint64_t kPipeHeaderBytes = 16;

/// The header of a capture in file mode.
///
/// 72 bytes: magic, header size, size of an attribute entry, then offset and size of the attribute,
/// data and event type sections. 104 bytes: and a bitmap of 256 features.
struct FileHeader {
  std::uint64_t header_size = 0;
  std::uint64_t attr_entry_size = 0;  ///< a perf_event_attr and the FileSection of its ids
  FileSection attrs;
  FileSection data;
  FileSection event_types;
  std::bitset<256> features;
};

/// Reads the header. Checks no section: each is bounded where it is used.
/// Errors: kTruncated; kUnsupported for another header size.
Result<FileHeader> read_file_header(io::ByteSource& source, const FileMagic& magic);

}  // namespace stackpack::perf
