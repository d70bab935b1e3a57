#include "export/html/sample_survey.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

// Tracks that differ in their labels alone are of one thread: by track, which of the threads, which
// are numbered as they turn up.
std::vector<std::uint32_t> threads_of(const std::vector<query::Track>& tracks) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      known;
  std::vector<std::uint32_t> threads;
  threads.reserve(tracks.size());
  for (const query::Track& track : tracks) {
    threads.push_back(known
                          .try_emplace({track.pid, track.tid, track.process, track.thread},
                                       static_cast<std::uint32_t>(known.size()))
                          .first->second);
  }
  return threads;
}

void choose_threads(SampleSurvey& survey, const query::SampleSelection& selection) {
  const std::vector<query::Track>& tracks = selection.tracks();
  const std::vector<std::uint32_t> threads = threads_of(tracks);
  std::vector<std::uint64_t> samples;
  std::vector<std::uint32_t> first_track;
  for (std::uint32_t track = 0; track < tracks.size(); ++track) {
    if (threads[track] == samples.size()) {
      samples.push_back(0);
      first_track.push_back(track);
    }
    samples[threads[track]] += survey.samples_of_track[track];
  }
  // A thread that only has intervals is none of the samples'.
  const auto sampled = static_cast<std::size_t>(std::count_if(
      samples.begin(), samples.end(), [](std::uint64_t count) { return count != 0; }));
  std::vector<std::uint32_t> chosen = busiest(samples);
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                              [&](std::uint32_t thread) { return samples[thread] == 0; }),
               chosen.end());
  std::vector<std::uint32_t> rows(samples.size(), static_cast<std::uint32_t>(chosen.size()));
  for (const std::uint32_t thread : chosen) {
    const query::Track& track = tracks[first_track[thread]];
    rows[thread] = static_cast<std::uint32_t>(survey.threads.size());
    survey.threads.push_back({track.pid, track.tid, std::string(selection.process_name(track)),
                              std::string(selection.thread_name(track))});
    survey.samples_of_thread.push_back(samples[thread]);
  }
  for (const std::uint32_t thread : threads) {
    survey.thread_of_track.push_back(rows[thread]);
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
  survey.samples_of_track = counts->of_track;
  choose_threads(survey, selection);
  return survey;
}

}  // namespace stackpack::exporting
