// Figures that follow from the statistics of a file: `ratios` and the per-unit numbers.
#pragma once

#include <cstdint>

#include "stackpack/stats.h"

namespace stackpack::app {

/// Bytes of one frame in the plain form that every ratio compares with: a 64-bit address.
inline constexpr std::uint64_t kPlainFrameBytes = 8;

/// numerator / denominator, 0 for a denominator of 0.
inline double ratio(std::uint64_t numerator, std::uint64_t denominator) {
  return denominator == 0 ? 0.0 : static_cast<double>(numerator) / static_cast<double>(denominator);
}

struct DerivedFigures {
  std::uint64_t raw_bytes = 0;     ///< every recorded callstack written out
  std::uint64_t unique_bytes = 0;  ///< every distinct callstack written out
  double dedup_ratio = 0;
  double dag_ratio = 0;
  double total_ratio = 0;
  double file_ratio = 0;
  double bytes_per_node_stored = 0;
  double bytes_per_sample = 0;
  double probes_per_lookup = 0;
  double prefix_saved_percent = 0;
};

inline DerivedFigures derive(const Statistics& statistics, std::uint64_t file_bytes) {
  DerivedFigures figures;
  figures.raw_bytes = kPlainFrameBytes * statistics.callstacks.raw_frames;
  figures.unique_bytes = kPlainFrameBytes * statistics.callstacks.unique_frames;
  figures.dedup_ratio = ratio(figures.raw_bytes, figures.unique_bytes);
  figures.dag_ratio = ratio(figures.unique_bytes, statistics.dag.stored_bytes);
  figures.total_ratio = ratio(figures.raw_bytes, statistics.dag.stored_bytes);
  figures.file_ratio = ratio(statistics.source_bytes, file_bytes);
  figures.bytes_per_node_stored = ratio(statistics.dag.stored_bytes, statistics.dag.nodes);
  figures.bytes_per_sample = ratio(statistics.sample_stream_bytes, statistics.samples.total);
  figures.probes_per_lookup = ratio(statistics.builder.probes, statistics.builder.lookups);
  constexpr double kPercent = 100;
  figures.prefix_saved_percent =
      kPercent * ratio(statistics.builder.prefix_frames, statistics.builder.frames);
  return figures;
}

/// Adds the counts of `more` to `sum`, for totals over files. Distinct things are added, too: a
/// callstack that is in two files counts twice. max_depth becomes the larger one; events and losses
/// are added by name.
void add_statistics(Statistics& sum, const Statistics& more);

}  // namespace stackpack::app
