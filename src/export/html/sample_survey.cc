#include "export/html/sample_survey.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include <fmt/format.h>

#include "query/selection/saturating.h"

namespace stackpack::exporting {

namespace {

void count(SampleSurvey& survey, const query::SelectedSample& sample) {
  const auto add = [&](std::uint64_t& counter, bool applies) {
    counter = applies ? query::saturating_sum(counter, sample.count) : counter;
  };
  add(survey.samples, true);
  add(survey.without_callstack, sample.stack == kNoStack);
  add(survey.ip_only, sample.origin == StackOrigin::kIpOnly);
  add(survey.unwound, sample.origin == StackOrigin::kUnwound);
  add(survey.incomplete, (sample.flags & kSampleIncomplete) != 0);
}

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
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return samples[a] > samples[b]; });
  chosen.resize(std::min(chosen.size(), kMostPageThreads));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

PageThread other_threads(std::uint64_t count) {
  return {kUnknownId, kUnknownId, "", fmt::format("[{} other threads]", count)};
}

bool has_times(const query::SampleSelection& selection) {
  return selection.view().has_samples && !selection.aggregated();
}

Result<SampleSurvey> survey_samples(query::SampleSelection& selection) {
  SampleSurvey survey;
  std::vector<std::uint64_t> samples_of_track;
  const Status status =
      selection.for_each([&](std::span<const query::SelectedSample> block) -> Status {
        samples_of_track.resize(selection.tracks().size());
        for (const query::SelectedSample& sample : block) {
          count(survey, sample);
          samples_of_track[sample.track] += sample.count;
        }
        return {};
      });
  if (!status) {
    return status.error();
  }
  choose_threads(survey, selection, samples_of_track);
  return survey;
}

}  // namespace stackpack::exporting
