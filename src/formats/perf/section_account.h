#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/byte_account.h"
#include "formats/perf/file_header.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Where the bytes of a file went that are not in its data section, whose records are counted as
/// they are read. Sections may lie anywhere and overlap, in a hostile file; each byte counts once.
class SectionAccount {
 public:
  /// What lies where no section is, in bytes.
  struct Unnamed {
    std::uint64_t between = 0;   ///< most likely a section is in the wrong place
    std::uint64_t trailing = 0;  ///< after the last section of a file whose sections are sound
    std::uint64_t trailing_at = 0;
  };

  explicit SectionAccount(const bytes::ByteOrder& order) : order_(order) {}

  void parsed(const FileSection& section) { ranges_.push_back({section, std::nullopt}); }
  void skipped(const FileSection& section, capture::SkipReason reason) {
    ranges_.push_back({section, reason});
  }

  /// The table of feature sections, which lies behind the data. Its recorder reserved room for
  /// more of them than it wrote.
  void feature_table(const FileSection& table) {
    parsed(table);
    table_end_ = table.offset + table.size;
  }

  /// Adds the bytes of `file`, which has `file_bytes`, outside of `data`, which lies within, to
  /// `account`. A gap between sections is padding where it holds nothing but zeros, or unused rows
  /// of the feature table. Other gaps are bytes that no section names: most likely one is in the
  /// wrong place, and records are among them; so they are after the last section, unless that is
  /// one of `sound` features: writers leave there what they began and gave up, or what was there
  /// before they wrote the file anew.
  /// Result: what no section names; it is counted as skipped. Errors: kIo.
  Result<Unnamed> finish(io::ByteSource& file, std::uint64_t file_bytes, const FileSection& data,
                         bool sound, capture::ByteAccount& account);

 private:
  struct Range {
    FileSection section;
    std::optional<capture::SkipReason> skipped;
  };

  std::vector<FileSection> gaps_around(const FileSection& data, std::uint64_t file_bytes,
                                       capture::ByteAccount& account);
  [[nodiscard]] Result<bool> is_padding(io::ByteSource& file, std::uint64_t file_bytes,
                                        FileSection gap) const;

  const bytes::ByteOrder& order_;
  std::vector<Range> ranges_;
  std::uint64_t table_end_ = 0;  // 0: no such table
};

}  // namespace stackpack::perf
