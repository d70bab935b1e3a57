#include "app/listing/capture_facts.h"

#include <map>
#include <tuple>
#include <utility>

#include "app/listing/thread_names.h"
#include "capture/time_resolution.h"
#include "core/sort_rows.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"
#include "stackpack/sources.h"

namespace stackpack::app {

namespace {

using CountOfPid = std::map<std::uint32_t, std::uint64_t>;

Result<CountOfPid> count_by_pid(const Reader& reader, const SampleFilter& filter) {
  const auto view = query::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions options;
  options.filter = filter;
  options.all_events = true;
  const auto selection = query::SampleSelection::create(*view, options);
  if (!selection) {
    return selection.error();
  }
  CountOfPid counts;
  const query::SummedFields fields{.weight = false, .stack = false, .by_time = false};
  std::vector<std::uint64_t> of_track;
  const Status status =
      (*selection)
          ->for_each_summed(fields, [&](std::span<const query::SummedSample> block) -> Status {
            of_track.resize((*selection)->tracks().size());
            for (const query::SummedSample& sample : block) {
              of_track[sample.track] += sample.count;
            }
            return {};
          });
  for (std::size_t track = 0; track < of_track.size(); ++track) {
    if (of_track[track] != 0) {
      counts[(*selection)->tracks()[track].pid] += of_track[track];
    }
  }
  return status ? Result<CountOfPid>(std::move(counts)) : Result<CountOfPid>(status.error());
}

Result<std::vector<ProcessSamples>> samples_by_process(const Reader& reader,
                                                       const SampleFilter& filter) {
  const Result<CountOfPid> counts = count_by_pid(reader, filter);
  if (!counts) {
    return counts.error();
  }
  const Result<std::vector<Process>> processes = reader.processes();
  if (!processes) {
    return processes.error();
  }
  const ThreadNames names(*processes, {});
  std::vector<ProcessSamples> rows;
  for (const auto& [pid, samples] : *counts) {
    rows.push_back({pid, std::string(names.process_name(pid, kUnknownTime)), samples});
  }
  core::sort_rows(rows, [](const ProcessSamples& a, const ProcessSamples& b) {
    return std::tuple(b.samples, a.pid) < std::tuple(a.samples, b.pid);
  });
  return rows;
}

}  // namespace

Result<CaptureFacts> capture_facts(const Reader& reader, const SampleFilter& filter,
                                   bool by_process) {
  CaptureFacts facts;
  const Result<std::vector<MetadataEntry>> metadata = reader.metadata();
  if (!metadata) {
    return metadata.error();
  }
  facts.missing_images = missing_images(*metadata);
  facts.time_resolution_ns = capture::time_resolution_of(*metadata);
  bool untimed = false;
  for (const MetadataEntry& entry : *metadata) {
    untimed = untimed || (entry.key == capture::kUntimedKey && entry.value == "1");
    if (entry.key == "host.name") {
      facts.host = entry.value;
    } else if (entry.key == "command_line") {
      facts.command = entry.value;
    }
  }
  const Result<std::optional<Reader::TimeRange>> times = reader.time_range();
  if (!times) {
    return times.error();
  }
  if (!untimed) {
    facts.times = *times;
  }
  const Result<std::vector<MergedSource>> sources = reader.sources();
  if (!sources) {
    return sources.error();
  }
  facts.sources = sources->size();
  for (const MergedSource& source : *sources) {
    facts.callstacks_before += source.callstacks;
  }
  if (by_process) {
    Result<std::vector<ProcessSamples>> rows = samples_by_process(reader, filter);
    if (!rows) {
      return rows.error();
    }
    facts.by_process = std::move(rows).value();
  }
  return facts;
}

}  // namespace stackpack::app
