#include "app/listing/selected_samples.h"

#include <algorithm>
#include <set>

#include "core/saturating.h"
#include "query/selection/capture_view.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kIdsAtOnce = 4096;

// Adds up the frames of the callstacks that were recorded, `counts` times each.
Status measure_stacks(const Reader& reader, const std::vector<std::uint64_t>& counts,
                      Statistics& statistics) {
  auto& totals = statistics.callstacks;
  std::set<Frame> leaves;
  std::vector<StackId> ids;
  for (std::size_t next = 0; next < counts.size();) {
    ids.clear();
    for (; next < counts.size() && ids.size() < kIdsAtOnce; ++next) {
      if (counts[next] != 0) {
        ids.push_back(static_cast<StackId>(next));
      }
    }
    const Status read =
        reader.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
          totals.raw_frames += counts[ids[position]] * frames.size();
          ++totals.unique;
          totals.unique_frames += frames.size();
          totals.max_depth = std::max<std::uint64_t>(totals.max_depth, frames.size());
          if (!frames.empty()) {
            leaves.insert(frames.front());
          }
          return true;
        });
    if (!read) {
      return read;
    }
  }
  totals.unique_leaf_frames = leaves.size();
  return {};
}

}  // namespace

Status visit_selected(const Reader& reader, const SampleFilter& filter,
                      const std::function<Status(std::span<const query::SelectedSample>)>& visit) {
  const auto view = query::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions options;
  options.filter = filter;
  options.all_events = true;
  options.count = CountBy::kSamples;
  const auto selection = query::SampleSelection::create(*view, options);
  return selection ? (*selection)->for_each(visit) : Status{selection.error()};
}

Result<bool> is_aggregated(const Reader& reader) {
  const auto metadata = reader.metadata();
  if (!metadata) {
    return metadata.error();
  }
  return std::any_of(metadata->begin(), metadata->end(), [](const MetadataEntry& entry) {
    return entry.key == query::kAggregatedKey && entry.value == "1";
  });
}

Result<std::uint64_t> first_time(const Reader& reader) {
  std::uint64_t first = 0;
  if (!reader.has_samples()) {
    return first;
  }
  const Status read = reader.samples({}, [&first](std::span<const StoredSample> block) {
    first = block.empty() ? 0 : block.front().time_ns;
    return block.empty();
  });
  return read ? Result<std::uint64_t>(first) : Result<std::uint64_t>(read.error());
}

Status recount(const Reader& reader, const SampleFilter& filter, Statistics& statistics) {
  const std::uint64_t stored = statistics.callstacks.stored;
  statistics.samples = {};
  statistics.callstacks = {};
  statistics.callstacks.stored = stored;
  for (EventCount& event : statistics.events) {
    event.samples = 0;
  }
  std::vector<std::uint64_t> counts(reader.stack_count());
  const Status status =
      visit_selected(reader, filter, [&](std::span<const query::SelectedSample> block) -> Status {
        for (const query::SelectedSample& sample : block) {
          auto& samples = statistics.samples;
          const bool recorded = has_chain(sample.origin);
          samples.total += sample.count;
          samples.recorded += recorded ? sample.count : 0;
          samples.unwound += sample.origin == StackOrigin::kUnwound ? sample.count : 0;
          samples.ip_only += sample.origin == StackOrigin::kIpOnly ? sample.count : 0;
          samples.none += sample.origin == StackOrigin::kNone ? sample.count : 0;
          samples.empty_chains += (sample.flags & kSampleEmptyChain) != 0 ? sample.count : 0;
          samples.stack_dump_only +=
              !recorded && (sample.flags & kSampleStackDump) != 0 ? sample.count : 0;
          if (sample.event < statistics.events.size()) {
            statistics.events[sample.event].samples += sample.count;
          }
          if (recorded && sample.stack < counts.size()) {
            counts[sample.stack] += sample.count;
          }
        }
        return {};
      });
  return status ? measure_stacks(reader, counts, statistics) : status;
}

Result<std::vector<unsigned>> decimals_of_events(const Reader& reader) {
  const auto events = reader.events();
  const auto metadata = reader.metadata();
  if (!events || !metadata) {
    return events ? metadata.error() : events.error();
  }
  std::vector<unsigned> decimals(events->size());
  for (const MetadataEntry& entry : *metadata) {
    const core::ScaledUnit unit = core::parse_unit(entry.value);
    for (std::size_t i = 0; unit.decimals != 0 && i < events->size(); ++i) {
      const Event& event = (*events)[i];
      decimals[i] = event.has_weight && entry.key == std::string(core::kUnitKey) + event.name
                        ? unit.decimals
                        : decimals[i];
    }
  }
  return decimals;
}

Result<std::vector<core::ScaledNumber>> weights_of_events(const Reader& reader,
                                                          const SampleFilter& filter) {
  const Result<std::vector<unsigned>> decimals = decimals_of_events(reader);
  if (!decimals) {
    return decimals.error();
  }
  std::vector<core::ScaledNumber> weights;
  for (const unsigned digits : *decimals) {
    weights.push_back({0, digits});
  }
  const Status status =
      visit_selected(reader, filter, [&](std::span<const query::SelectedSample> block) -> Status {
        for (const query::SelectedSample& sample : block) {
          if (sample.event < weights.size()) {
            std::uint64_t& weight = weights[sample.event].digits;
            core::add_saturating(weight, sample.weight);
          }
        }
        return {};
      });
  return status ? Result<std::vector<core::ScaledNumber>>(std::move(weights))
                : Result<std::vector<core::ScaledNumber>>(status.error());
}

}  // namespace stackpack::app
