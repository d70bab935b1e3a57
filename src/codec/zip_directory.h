#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::codec {

/// The name of a member in UTF-8. `is_utf8`: the archive says so. Otherwise it is in code page 437,
/// as the format has it, unless it is UTF-8 all the same, as most writers of today have it.
std::string zip_name(std::string_view stored, bool is_utf8);

/// A member of a zip archive, as the central directory has it.
struct ZipEntry {
  std::string name;  ///< UTF-8 where the archive says or means that; up to the first NUL
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t header_at = 0;  ///< of its local header
  std::uint64_t end = 0;        ///< its last byte is before this: the next member or the directory
  std::uint32_t checksum = 0;   ///< CRC-32 of the content
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
};

/// The largest central directory that is read.
inline constexpr std::uint64_t kMostZipDirectoryBytes = std::uint64_t{16} << 20;

/// Reads the central directory of an archive, with the extensions of zip64. Its entries share no
/// bytes of the archive: each has its header, name and content to itself.
///
/// `source` must be seekable.
/// Errors: kCorrupt, also for entries that overlap or lie outside; kUnsupported for an archive of
///         several parts; kLimit for a directory above kMostZipDirectoryBytes; those of the source.
/// Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.12 to 4.3.16 and 4.5.3.
Result<std::vector<ZipEntry>> read_zip_directory(io::ByteSource& source);

/// Where the content of an entry begins: what stands in its local header goes before.
/// Errors: kCorrupt when there is no local header, when it contradicts the directory, or when the
///         content does not end before entry.end; those of the source.
Result<std::uint64_t> find_zip_content(io::ByteSource& source, const ZipEntry& entry);

}  // namespace stackpack::codec
