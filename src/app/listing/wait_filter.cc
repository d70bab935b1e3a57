#include "app/listing/wait_filter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/saturating.h"
#include "query/name_pattern.h"

namespace stackpack::app {

namespace {

// Of the first sample, as everywhere; of a file without samples that of the first interval.
Result<std::uint64_t> start_of_waits(const Reader& reader) {
  const auto samples = reader.time_range();
  if (!samples) {
    return samples.error();
  }
  if (*samples) {
    return (*samples)->from_ns;
  }
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  const Status read = reader.intervals({}, [&first](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      first = std::min(first, row.from_ns);
    }
    return true;
  });
  return read ? Result<std::uint64_t>(first) : Result<std::uint64_t>(read.error());
}

}  // namespace

Result<WaitRange> wait_range(const Reader& reader, const WaitFilter& filter) {
  if (!reader.has_intervals()) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "the file has no intervals: no switches of threads were recorded, or they were "
                 "left out"};
  }
  WaitRange range;
  const bool from_start =
      (filter.from && filter.from->from_start) || (filter.to && filter.to->from_start);
  std::uint64_t start = 0;
  if (from_start) {
    const Result<std::uint64_t> found = start_of_waits(reader);
    if (!found) {
      return found.error();
    }
    start = *found;
  }
  const auto absolute = [start](const CaptureTime& time) {
    return time.from_start ? core::saturating_sum(start, time.ns) : time.ns;
  };
  range.from_ns = filter.from ? absolute(*filter.from) : range.from_ns;
  range.to_ns = filter.to ? absolute(*filter.to) : range.to_ns;
  if (range.from_ns > range.to_ns) {
    return Error{ErrorCode::kUsage, kNoOffset, "the time range ends before it begins"};
  }
  return range;
}

namespace {

Result<std::vector<std::uint64_t>> source_firsts(const Reader& reader) {
  const Result<std::vector<MergedSource>> sources = reader.sources();
  if (!sources) {
    return sources.error();
  }
  std::vector<std::uint64_t> firsts;
  std::uint64_t next = 1;
  for (const MergedSource& source : *sources) {
    firsts.push_back(next);
    next += source.pids.size();
  }
  return firsts;
}

}  // namespace

Result<WaitTables> wait_tables(const Reader& reader, const WaitFilter& filter) {
  const Result<WaitRange> range = wait_range(reader, filter);
  if (!range) {
    return range.error();
  }
  Result<std::vector<Process>> processes = reader.processes();
  if (!processes) {
    return processes.error();
  }
  Result<std::vector<Thread>> threads = reader.threads();
  if (!threads) {
    return threads.error();
  }
  Result<std::vector<std::string>> reasons = reader.wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  Result<std::vector<std::uint64_t>> firsts = source_firsts(reader);
  if (!firsts) {
    return firsts.error();
  }
  return WaitTables{*range, std::move(*processes), std::move(*threads), std::move(*reasons),
                    std::move(*firsts)};
}

namespace {

// The reason `?` stands for itself.
bool fits_word(std::string_view name, const std::string& pattern) {
  return pattern == "?" ? name == pattern : query::fits_pattern(name, pattern);
}

}  // namespace

bool fits_state(const WaitFilter& filter, const WaitInterval& row,
                const std::vector<std::string>& reasons) {
  const std::string& reason = reasons[row.reason];
  return filter.states.empty() ||
         std::any_of(filter.states.begin(), filter.states.end(), [&](const std::string& pattern) {
           return fits_word(wait_state_name(row.state), pattern) || fits_word(reason, pattern);
         });
}

}  // namespace stackpack::app
