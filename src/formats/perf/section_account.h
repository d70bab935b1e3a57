#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/byte_account.h"
#include "formats/perf/file_header.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Where the bytes of a file went that are not in its data section, whose records are counted as
/// they are read. Sections may lie anywhere and overlap, in a hostile file; each byte counts once.
class SectionAccount {
 public:
  void parsed(const FileSection& section) { ranges_.push_back({section, std::nullopt}); }
  void skipped(const FileSection& section, capture::SkipReason reason) {
    ranges_.push_back({section, reason});
  }

  /// Adds the bytes of `file`, which has `file_bytes`, outside of `data`, which lies within, to
  /// `account`. A gap between sections is padding where it holds nothing but zeros: the recorder
  /// reserves room in the feature table for features that it then leaves out. Other gaps, and what
  /// follows the last section, are bytes that no section names: most likely one is in the wrong
  /// place, and records are among them.
  /// Result: how many bytes no section names; they are counted as skipped. Errors: kIo.
  Result<std::uint64_t> finish(io::ByteSource& file, std::uint64_t file_bytes,
                               const FileSection& data, capture::ByteAccount& account);

 private:
  struct Range {
    FileSection section;
    std::optional<capture::SkipReason> skipped;
  };

  std::vector<Range> ranges_;
};

}  // namespace stackpack::perf
