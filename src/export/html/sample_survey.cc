#include "export/html/sample_survey.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include <fmt/format.h>

#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

void choose_threads(SampleSurvey& survey, const query::SampleSelection& selection,
                    const std::vector<std::uint64_t>& samples_of_track) {
  const std::vector<query::Track>& tracks = selection.tracks();
  // A thread that only has intervals is none of the samples'.
  const auto sampled =
      static_cast<std::size_t>(std::count_if(samples_of_track.begin(), samples_of_track.end(),
                                             [](std::uint64_t samples) { return samples != 0; }));
  std::vector<std::uint32_t> chosen = busiest(samples_of_track);
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                              [&](std::uint32_t track) { return samples_of_track[track] == 0; }),
               chosen.end());
  survey.thread_of_track.assign(tracks.size(), static_cast<std::uint32_t>(chosen.size()));
  for (const std::uint32_t track : chosen) {
    survey.thread_of_track[track] = static_cast<std::uint32_t>(survey.threads.size());
    survey.threads.push_back({tracks[track].pid, tracks[track].tid,
                              std::string(selection.process_name(tracks[track])),
                              std::string(selection.thread_name(tracks[track]))});
    survey.samples_of_thread.push_back(samples_of_track[track]);
  }
  survey.other_threads = sampled - chosen.size();
  if (survey.other_threads != 0) {
    survey.threads.push_back(other_threads(survey.other_threads));
    survey.samples_of_thread.push_back(0);
  }
}

}  // namespace

std::vector<std::uint32_t> busiest(const std::vector<std::uint64_t>& samples) {
  std::vector<std::uint32_t> chosen(samples.size());
  std::iota(chosen.begin(), chosen.end(), 0U);
  core::sort_rows(chosen,
                  [&](std::uint32_t a, std::uint32_t b) { return samples[a] > samples[b]; });
  chosen.resize(std::min(chosen.size(), kMostPageThreads));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

PageThread other_threads(std::uint64_t count) {
  return {kUnknownId, kUnknownId, "", fmt::format("[{} other threads]", count)};
}

bool has_times(const query::SampleSelection& selection) {
  return selection.view().has_times();
}

Result<SampleSurvey> survey_samples(query::SampleSelection& selection) {
  const Result<query::SampleCounts> counts = selection.count_samples();
  if (!counts) {
    return counts.error();
  }
  SampleSurvey survey;
  survey.samples = counts->samples;
  survey.without_callstack = counts->without_callstack;
  survey.ip_only = counts->ip_only;
  survey.unwound = counts->unwound;
  survey.incomplete = counts->incomplete;
  choose_threads(survey, selection, counts->of_track);
  return survey;
}

}  // namespace stackpack::exporting
