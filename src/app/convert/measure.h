#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/convert.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// What `stats` tells of one file.
struct Measurement {
  std::string file;
  std::uint64_t file_bytes = 0;
  Statistics statistics;
  std::vector<SectionInfo> sections;
};

/// The statistics of a .spk file, from its summary: the time does not grow with the capture.
/// A capture is packed into a temporary file first, which is gone afterwards.
Result<Measurement> measure(const std::string& path, const ConvertOptions& options,
                            ConvertProgress* progress);

}  // namespace stackpack::app
