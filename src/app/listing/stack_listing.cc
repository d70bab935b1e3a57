#include "app/listing/stack_listing.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

namespace {

constexpr std::size_t kIdsAtOnce = 4096;

// A stack id that a file names must be one it has: the reader checks ids at load, and this is the
// place that would write out of bounds if it did not.
void count(std::vector<std::uint64_t>& counts, StackId stack, StackOrigin origin,
           std::uint64_t samples) {
  if (origin == StackOrigin::kRecorded && stack < counts.size()) {
    counts[stack] += samples;
  }
}

}  // namespace

Result<std::vector<std::uint64_t>> count_recorded_samples(const Reader& reader) {
  std::vector<std::uint64_t> counts(reader.stack_count());
  if (!reader.has_samples()) {
    const Result<std::vector<Reader::StackCount>> rows = reader.stack_counts();
    if (!rows) {
      return rows.error();
    }
    for (const Reader::StackCount& row : *rows) {
      count(counts, row.stack, row.origin, row.samples);
    }
    return counts;
  }
  const Status read = reader.samples({}, [&counts](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      count(counts, sample.stack, sample.origin, 1);
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  return counts;
}

Status visit_recorded_stacks(
    const Reader& reader,
    const std::function<Status(std::uint64_t samples, std::span<const Frame> frames)>& visit) {
  const Result<std::vector<std::uint64_t>> counted = count_recorded_samples(reader);
  if (!counted) {
    return counted.error();
  }
  const std::vector<std::uint64_t>& counts = *counted;
  std::vector<StackId> ids;
  std::size_t next = 0;
  while (next < counts.size()) {
    ids.clear();
    for (; next < counts.size() && ids.size() < kIdsAtOnce; ++next) {
      if (counts[next] != 0) {
        ids.push_back(static_cast<StackId>(next));
      }
    }
    Status visited;
    const Status read =
        reader.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
          if (visited) {
            visited = visit(counts[ids[position]], frames);
          }
        });
    if (!read || !visited) {
      return read ? visited : read;
    }
  }
  return {};
}

}  // namespace stackpack::app
