#include "app/listing/stack_listing.h"

#include <unordered_map>

#include "app/listing/selected_samples.h"
#include "core/saturating.h"
#include "core/weight_scale.h"
#include "query/selection/capture_view.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kListedAtOnce = 4096;

// A stack id that a file names must be one it has: the reader checks ids at load, and this is the
// place that would write out of bounds if it did not.
void count(std::vector<std::uint64_t>& counts, StackId stack, StackOrigin origin,
           std::uint64_t samples) {
  if (has_chain(origin) && stack < counts.size()) {
    core::add_saturating(counts[stack], samples);
  }
}

// All samples of a capture: nothing to ask about any of them.
Result<StackCounts> count_all(const Reader& reader) {
  StackCounts result;
  result.counts.resize(reader.stack_count());
  if (!reader.has_samples()) {
    const Result<std::vector<StackCount>> rows = reader.stack_counts();
    if (!rows) {
      return rows.error();
    }
    for (const StackCount& row : *rows) {
      count(result.counts, row.stack, row.origin, row.samples);
    }
    return result;
  }
  SampleScan scan;
  scan.query.any_order = true;
  scan.columns = kStackColumn | kOriginColumn;
  const Status read = visit_samples(reader, scan, [&result](const SampleColumns& samples) {
    for (std::size_t i = 0; i < samples.rows; ++i) {
      count(result.counts, samples.stack[i], samples.origin[i], 1);
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  return result;
}

using Places = std::unordered_map<StackId, std::optional<symbols::MappingContext>>;

Status places_of_samples(const Reader& reader, const PlaceFilter& filter, Places& places) {
  std::size_t open = places.size();
  SampleScan scan;
  scan.columns = kStackColumn | kPidColumn | kTimeColumn;
  SampleQuery& query = scan.query;
  query.pid = filter.pid;
  if (filter.from || filter.to) {
    const Result<std::uint64_t> first = first_time(reader);
    if (!first) {
      return first.error();
    }
    const auto absolute = [&first](const CaptureTime& time) {
      return time.from_start ? core::saturating_sum(*first, time.ns) : time.ns;
    };
    query.from_ns = filter.from ? absolute(*filter.from) : query.from_ns;
    query.to_ns = filter.to ? absolute(*filter.to) : query.to_ns;
  }
  return visit_samples(reader, scan, [&](const SampleColumns& samples) {
    for (std::size_t i = 0; i < samples.rows; ++i) {
      const auto found = places.find(samples.stack[i]);
      if (found != places.end() && !found->second) {
        found->second = symbols::MappingContext{samples.pid[i], samples.time_ns[i]};
        --open;
      }
    }
    return open > 0;
  });
}

// A file without samples still has the process; its newest mappings are the best guess.
Status places_of_counts(const Reader& reader, const PlaceFilter& filter, Places& places) {
  const Result<std::vector<StackCount>> counts = reader.stack_counts();
  if (!counts) {
    return counts.error();
  }
  for (const StackCount& row : *counts) {
    const auto found = places.find(row.stack);
    if (found != places.end() && !found->second && (!filter.pid || *filter.pid == row.pid)) {
      found->second = symbols::MappingContext{row.pid, kUnknownTime - 1};
    }
  }
  return {};
}

}  // namespace

Result<StackCounts> count_recorded_stacks(const Reader& reader, const SampleFilter& filter) {
  const Result<bool> aggregated = is_aggregated(reader);
  if (!aggregated) {
    return aggregated.error();
  }
  if (!*aggregated && filter.empty()) {
    return count_all(reader);
  }
  const auto view = query::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions options;  // folded: of an imported profile one event
  options.filter = filter;
  options.all_events = !*aggregated;
  options.count = *aggregated ? CountBy::kWeight : CountBy::kSamples;
  const auto selection = query::SampleSelection::create(*view, options);
  if (!selection) {
    return selection.error();
  }
  StackCounts result;
  result.counts.resize(reader.stack_count());
  const Status status =
      (*selection)->for_each([&](std::span<const query::SelectedSample> block) -> Status {
        for (const query::SelectedSample& sample : block) {
          count(result.counts, sample.stack, sample.origin, (*selection)->value_of(sample));
        }
        return {};
      });
  if (!status) {
    return status.error();
  }
  const query::EventChoice& choice = (*selection)->choice();
  result.decimals = core::parse_unit(choice.measure_of(choice.main_event()).unit).decimals;
  if (choice.is_chosen()) {
    result.event = choice.name_of(choice.main_event());
    result.other_events = choice.left_out();
  }
  return result;
}

Status visit_counted_stacks(const Reader& reader, std::span<const std::uint64_t> counts,
                            const std::function<Status(StackId id, std::uint64_t count,
                                                       std::span<const Frame> frames)>& visit) {
  std::vector<StackId> ids;
  std::size_t next = 0;
  while (next < counts.size()) {
    ids.clear();
    for (; next < counts.size() && ids.size() < kListedAtOnce; ++next) {
      if (counts[next] != 0) {
        ids.push_back(static_cast<StackId>(next));
      }
    }
    Status visited;
    const Status read =
        reader.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
          visited = visit(ids[position], counts[ids[position]], frames);
          return visited.has_value();
        });
    if (!read || !visited) {
      return read ? visited : read;
    }
  }
  return {};
}

Result<std::vector<std::optional<symbols::MappingContext>>> first_places(
    const Reader& reader, std::span<const StackId> ids, const PlaceFilter& filter) {
  Places places;
  for (const StackId id : ids) {
    places.emplace(id, std::nullopt);
  }
  const Status read = reader.has_samples() ? places_of_samples(reader, filter, places)
                                           : places_of_counts(reader, filter, places);
  if (!read) {
    return read.error();
  }
  std::vector<std::optional<symbols::MappingContext>> result;
  result.reserve(ids.size());
  for (const StackId id : ids) {
    result.push_back(places.at(id));
  }
  return result;
}

}  // namespace stackpack::app
