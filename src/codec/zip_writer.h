#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::codec {

/// Writes a zip archive of members that are stored as they are. The same members give the same
/// bytes: each is of the first day that the format knows.
///
/// Memory: names and places of members.
/// Errors: kLimit for more than the format without extensions holds; those of `write`. After an
///         error the archive is of no use.
class ZipWriter {
 public:
  /// Whether an archive that begins with `head` is one of this writer: one without members, or one
  /// whose first member has a name that begins with `folder`. 30 bytes and those of `folder` tell.
  static bool wrote(std::span<const std::byte> head, std::string_view folder);

  /// `write` takes the next bytes of the archive.
  explicit ZipWriter(std::function<Status(std::span<const std::byte>)> write)
      : write_(std::move(write)) {}

  /// `name`: printable ASCII, which the archive does not have yet.
  Status add(std::string_view name, std::span<const std::byte> content);

  /// The table of members, which ends the archive.
  Status finish();

 private:
  struct Member {
    std::string name;
    std::uint32_t checksum = 0;
    std::uint32_t size = 0;
    std::uint32_t offset = 0;
  };
  Status put(std::span<const std::byte> bytes);

  std::function<Status(std::span<const std::byte>)> write_;
  std::vector<Member> members_;
  std::uint64_t offset_ = 0;
};

}  // namespace stackpack::codec
