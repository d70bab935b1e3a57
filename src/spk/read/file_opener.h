#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::spk {

/// What opening a file gives: everything that does not grow with the capture.
struct OpenedFile {
  std::uint64_t file_bytes = 0;
  Directory directory;
  Statistics statistics;
  std::string fingerprint;
  std::vector<SectionInfo> sections;  ///< header, directory and trailer included
};

/// Reads header, trailer, directory and summary: two small reads, whatever the size of the file,
/// unless its directory is very long.
/// Errors: kUnsupported: not seekable, or of a newer version; kTruncated, kCorrupt, kIo.
Status open_file(BlockReader& blocks, OpenedFile& file);

}  // namespace stackpack::spk
