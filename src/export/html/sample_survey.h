#pragma once

#include <cstdint>
#include <vector>

#include "export/html/page_content.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// Threads that a page knows at most; the others are one, which says how many they are.
inline constexpr std::size_t kMostPageThreads = 4096;

/// What a page says of its samples besides their weights.
struct SampleSurvey {
  std::uint64_t samples = 0;
  std::uint64_t without_callstack = 0;
  std::uint64_t ip_only = 0;
  std::uint64_t unwound = 0;
  std::uint64_t incomplete = 0;     ///< a part of the callstack is known to be missing
  std::uint64_t other_threads = 0;  ///< threads that have no row of their own
  std::vector<PageThread> threads;
  std::vector<std::uint64_t> samples_of_thread;  ///< by row of `threads`
  std::vector<std::uint64_t> samples_of_track;   ///< by number of the track
  std::vector<std::uint32_t> thread_of_track;    ///< the same
};

/// The numbers of those with most samples, at most kMostPageThreads, ascending.
std::vector<std::uint32_t> busiest(const std::vector<std::uint64_t>& samples);

/// The one that stands for threads without a row of their own.
PageThread other_threads(std::uint64_t count);

/// Whether samples have times: they were kept one by one, and are no sums.
bool has_times(const query::SampleSelection& selection);

/// Reads all samples. Errors: those of the selection.
Result<SampleSurvey> survey_samples(query::SampleSelection& selection);

}  // namespace stackpack::exporting
