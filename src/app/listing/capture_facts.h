// What a person wants to know of a capture first: where, by what and how long it was recorded, and
// which processes its samples are of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/unwind/missing_images.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct ProcessSamples {
  std::uint32_t pid = kUnknownId;
  std::string name;  ///< its last one; may be empty
  std::uint64_t samples = 0;
};

struct CaptureFacts {
  std::string host;
  std::string command;                     ///< of the recorder
  std::optional<Reader::TimeRange> times;  ///< of the samples
  std::uint64_t time_resolution_ns = 0;    ///< they were rounded by less; 0: they are as recorded
  std::optional<std::vector<ProcessSamples>> by_process;  ///< most samples first, then by pid
  /// Without which callstacks could not be unwound to their root; most samples first.
  std::vector<MissingImage> missing_images;
  std::uint64_t sources = 0;            ///< of a merged file; 0: it is none
  std::uint64_t callstacks_before = 0;  ///< distinct recorded ones of each source, added up
};

/// Reads the metadata and the index of the samples; all samples only when `by_process`, of which
/// those that pass the filter are counted. Memory: a few bytes per process.
/// Errors: kUsage when the filter names what the file does not have; those of the reader.
Result<CaptureFacts> capture_facts(const Reader& reader, const SampleFilter& filter,
                                   bool by_process);

}  // namespace stackpack::app
