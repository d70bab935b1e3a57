#include "app/listing/stack_places.h"

#include <unordered_map>

#include "app/listing/selected_samples.h"
#include "export/selection/saturating.h"

namespace stackpack::app {

namespace {

using Places = std::unordered_map<StackId, std::optional<StackPlace>>;

Status places_of_samples(const Reader& reader, const PlaceFilter& filter, Places& places) {
  std::size_t open = places.size();
  SampleQuery query;
  query.pid = filter.pid;
  if (filter.from || filter.to) {
    const Result<std::uint64_t> first = first_time(reader);
    if (!first) {
      return first.error();
    }
    const auto absolute = [&first](const CaptureTime& time) {
      return time.from_start ? exporting::saturating_sum(*first, time.ns) : time.ns;
    };
    query.from_ns = filter.from ? absolute(*filter.from) : query.from_ns;
    query.to_ns = filter.to ? absolute(*filter.to) : query.to_ns;
  }
  return reader.samples(query, [&](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      const auto found = places.find(sample.stack);
      if (found != places.end() && !found->second) {
        found->second = StackPlace{sample.pid, sample.time_ns};
        --open;
      }
    }
    return open > 0;
  });
}

// A file without samples still has the process; its newest mappings are the best guess.
Status places_of_counts(const Reader& reader, const PlaceFilter& filter, Places& places) {
  const Result<std::vector<StackCount>> rows = reader.stack_counts();
  if (!rows) {
    return rows.error();
  }
  for (const StackCount& row : *rows) {
    const auto found = places.find(row.stack);
    if (found != places.end() && !found->second && (!filter.pid || *filter.pid == row.pid)) {
      found->second = StackPlace{row.pid, kUnknownTime - 1};
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::optional<StackPlace>>> first_places(const Reader& reader,
                                                            std::span<const StackId> ids,
                                                            const PlaceFilter& filter) {
  Places places;
  for (const StackId id : ids) {
    places.emplace(id, std::nullopt);
  }
  const Status read = reader.has_samples() ? places_of_samples(reader, filter, places)
                                           : places_of_counts(reader, filter, places);
  if (!read) {
    return read.error();
  }
  std::vector<std::optional<StackPlace>> result;
  result.reserve(ids.size());
  for (const StackId id : ids) {
    result.push_back(places.at(id));
  }
  return result;
}

}  // namespace stackpack::app
