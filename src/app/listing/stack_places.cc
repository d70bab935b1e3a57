#include "app/listing/stack_places.h"

#include <unordered_map>

#include "app/listing/selected_samples.h"
#include "core/saturating.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::app {

namespace {

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
  const Result<std::vector<StackCount>> rows = reader.stack_counts();
  if (!rows) {
    return rows.error();
  }
  for (const StackCount& row : *rows) {
    const auto found = places.find(row.stack);
    if (found != places.end() && !found->second && (!filter.pid || *filter.pid == row.pid)) {
      found->second = symbols::MappingContext{row.pid, kUnknownTime - 1};
    }
  }
  return {};
}

}  // namespace

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
