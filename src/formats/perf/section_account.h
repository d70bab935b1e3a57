#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/byte_account.h"
#include "formats/perf/file_header.h"

namespace stackpack::perf {

/// Where the bytes of a file went that are not in its data section, whose records are counted as
/// they are read. Sections may lie anywhere and overlap, in a hostile file; each byte counts once.
class SectionAccount {
 public:
  void parsed(const FileSection& section) { ranges_.push_back({section, std::nullopt}); }
  void skipped(const FileSection& section, capture::SkipReason reason) {
    ranges_.push_back({section, reason});
  }

  /// Adds the bytes of [0, file_bytes) outside of `data`, which lies within, to `account`.
  /// Gaps between sections are padding: the recorder reserves room in the feature table for
  /// features that it then leaves out.
  /// Result: how many bytes lie behind the last section; they are counted as skipped.
  std::uint64_t finish(std::uint64_t file_bytes, const FileSection& data,
                       capture::ByteAccount& account);

 private:
  struct Range {
    FileSection section;
    std::optional<capture::SkipReason> skipped;
  };

  std::vector<Range> ranges_;
};

}  // namespace stackpack::perf
