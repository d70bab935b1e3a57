#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/listing/capture_facts.h"
#include "core/weight_scale.h"
#include "stackpack/convert.h"
#include "stackpack/filter.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// What `stats` says of one file.
struct Measurement {
  std::string file;
  std::uint64_t file_bytes = 0;
  Statistics statistics;
  std::vector<SectionInfo> sections;
  /// What the samples of an imported profile stand for, by event; empty for a capture.
  std::vector<core::ScaledNumber> event_weights;
  /// True: samples, callstacks and events are those of a selection, and the rest means nothing.
  bool filtered = false;
  CaptureFacts facts;
  /// Reader::resident_bytes(); none when a page is damaged.
  std::optional<std::uint64_t> resident_bytes;
};

/// The statistics of a .spk file, from its summary and its pages: the time grows with the distinct
/// callstacks, not with the samples. With a filter, `by_process`, and of an imported profile, all
/// samples are read. A capture is
/// packed into a temporary file first, which is gone afterwards.
Result<Measurement> measure(const std::string& path, const ConvertOptions& options,
                            const SampleFilter& filter, bool by_process, ConvertProgress* progress);

}  // namespace stackpack::app
