#include "app/arrow/callstack_numbers.h"

#include <algorithm>
#include <memory>

namespace stackpack::app {

namespace {

Error unknown_sample() {
  return {ErrorCode::kCorrupt, kNoOffset,
          "spk: samples: another place than when they were counted"};
}

}  // namespace

Status CallstackNumbers::build(const Reader& reader, const exporting::CaptureView& view) {
  core::NumberTable<std::uint64_t> seen;
  const auto cache = std::make_unique<PlaceCache>();
  const auto ask = [this](std::uint32_t pid, std::uint64_t time_ns) {
    return places_.number(pid, time_ns);
  };
  const auto add = [&](std::uint32_t pid, std::uint64_t time_ns, StackId stack) {
    if (stack != kNoStack) {
      seen.number(key_of(cache->number(pid, time_ns, ask), stack));
    }
    return seen.size() < kNone;
  };
  bool fits = true;
  if (view.has_samples) {
    SampleQuery query;
    query.any_order = true;
    const Status read = reader.samples(query, [&](std::span<const StoredSample> samples) {
      fits = std::all_of(samples.begin(), samples.end(), [&add](const StoredSample& sample) {
        return add(sample.pid, sample.time_ns, sample.stack);
      });
      return fits;
    });
    if (!read) {
      return read;
    }
  }
  fits = fits &&
         std::all_of(view.stack_counts.begin(), view.stack_counts.end(),
                     [&add](const StackCount& row) { return add(row.pid, kCountTime, row.stack); });
  if (!fits) {
    return Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 callstacks"};
  }
  std::vector<std::uint64_t> keys(seen.values().begin(), seen.values().end());
  seen.release();
  std::sort(keys.begin(), keys.end());
  for (const std::uint64_t key : keys) {
    keys_.number(key);
  }
  return {};
}

Status CallstackNumbers::find(std::span<const StoredSample> samples, PlaceCache& cache,
                              std::span<std::uint32_t> numbers) const {
  bool known = true;
  const auto ask = [this, &known](std::uint32_t pid, std::uint64_t time_ns) {
    const auto found = places_.find(pid, time_ns);
    known = known && found.has_value();
    return found.value_or(NamingPlaces::Found{});
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const StoredSample& sample = samples[i];
    if (sample.stack == kNoStack) {
      numbers[i] = kNone;
      continue;
    }
    numbers[i] = keys_.find(key_of(cache.number(sample.pid, sample.time_ns, ask), sample.stack));
    known = known && numbers[i] != kNone;
  }
  return known ? Status{} : Status(unknown_sample());
}

}  // namespace stackpack::app
