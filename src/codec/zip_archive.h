#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codec/zip_directory.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::codec {

/// Reads members of a zip archive that are stored or deflated. Threads: one at a time.
class ZipArchive {
 public:
  using Member = ZipEntry;  ///< sizes are what the archive claims
  using Members = std::vector<Member>;

  /// True when `head` (4 bytes or more) is how a zip archive begins.
  static bool looks_like_zip(std::span<const std::byte> head);

  /// `source` must be seekable and outlive the archive.
  /// Errors: those of read_zip_directory(): kCorrupt also for members that share bytes; kIo.
  static Result<std::unique_ptr<ZipArchive>> open(io::ByteSource& source);
  /// The same with members that were read before, of an archive with these bytes. Of another one
  /// they cannot be read: their headers and checksums are looked at.
  ZipArchive(io::ByteSource& source, std::shared_ptr<const Members> members);

  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  [[nodiscard]] const Members& members() const { return *members_; }
  /// The same, to open the archive again.
  [[nodiscard]] const std::shared_ptr<const Members>& shared_members() const { return members_; }

  /// The first bytes of a member, at most `size`; fewer when it is shorter or damaged.
  /// Errors: kUnsupported for encryption or an unknown method; those of the source.
  Result<std::vector<std::byte>> read_head(std::size_t member, std::size_t size);

  /// A member as a whole. Errors: as extract().
  Result<std::vector<std::byte>> read(std::size_t member, std::uint64_t limit);

  /// Unpacks a member into a nameless file in `directory` and returns a source over it.
  /// Errors: kLimit when it is larger than `limit`, or claims to grow beyond growth_limit.h;
  ///         kCorrupt for damaged data, or when the size is not the one that it claims;
  ///         kUnsupported for encryption or an unknown method.
  Result<std::unique_ptr<io::ByteSource>> extract(std::size_t member, const std::string& directory,
                                                  std::uint64_t limit);

 private:
  [[nodiscard]] Status check_size(std::size_t member, std::uint64_t limit) const;

  io::ByteSource& source_;
  std::shared_ptr<const Members> members_;
};

}  // namespace stackpack::codec
