#include "query/selection/thread_time.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/selection/made_samples.h"

namespace stackpack::query {

namespace {

constexpr std::string_view kThreadTime = "thread-time";
// Of a sample whose event is not in the file's table, so that nobody takes it for thread time.
constexpr std::uint32_t kNoEventOfFile = ~std::uint32_t{0};

bool is_thread_sample(std::string_view event) {
  return event == "Managed" || event == "External";
}

bool is_timed(std::string_view event) {
  return is_thread_sample(event) || event.ends_with("/GC/AllocationTick") ||
         event.ends_with("/AllocationSampling");
}

// The samples of a view, and among them those of thread time.
class TimedSamples {
 public:
  TimedSamples(SampleSource samples, std::vector<bool> timed)
      : samples_(std::move(samples)), timed_(std::move(timed)) {}

  // In order of time whatever the query says: a sample is known when the next one of its thread is.
  Status visit(const SampleQuery& asked, const SampleVisit& visit) const {
    SampleQuery query = asked;
    query.any_order = false;
    query.from_ns = 0;  // what ends in time may begin at any
    std::unordered_map<std::uint64_t, StoredSample> last;
    std::vector<StoredSample> block;
    bool goes_on = true;
    const Status read = samples_(query, [&](std::span<const StoredSample> samples) {
      block.clear();
      for (const StoredSample& sample : samples) {
        const bool wanted = sample.time_ns >= asked.from_ns;
        const bool is_known = sample.event < timed_.size() - 1;
        if (is_known && timed_[sample.event]) {
          const std::uint64_t thread = (std::uint64_t{sample.pid} << 32) | sample.tid;
          const auto [known, fresh] = last.try_emplace(thread, sample);
          if (!fresh && wanted) {
            block.push_back(lasting(known->second, sample.time_ns));
          }
          known->second = sample;
        }
        if (wanted) {
          block.push_back(sample);
          block.back().event = is_known ? sample.event : kNoEventOfFile;
        }
      }
      goes_on = block.empty() || visit(block);
      return goes_on;
    });
    return read;
  }

 private:
  [[nodiscard]] StoredSample lasting(const StoredSample& begun, std::uint64_t until) const {
    StoredSample sample = begun;
    sample.event = static_cast<std::uint32_t>(timed_.size() - 1);
    sample.time_ns = until;
    sample.weight = until - begun.time_ns;
    return sample;
  }

  SampleSource samples_;
  std::vector<bool> timed_;  // by event; the last is that of thread time itself
};

}  // namespace

Status add_thread_time(const Reader& reader, const SampleFilter& filter, CaptureView& view) {
  const auto has = [&view](const auto& fits) {
    return std::any_of(view.events.begin(), view.events.end(),
                       [&fits](const Event& event) { return fits(event.name); });
  };
  const bool asked =
      std::find(filter.events.begin(), filter.events.end(), kThreadTime) != filter.events.end();
  if (!asked || !view.has_samples || !has(is_thread_sample) ||
      has([](std::string_view name) { return name == kThreadTime; })) {
    return {};
  }
  const auto range = reader.time_range();
  if (!range) {
    return range.error();
  }
  if (*range) {
    view.start_ns = (*range)->from_ns;
  }
  std::vector<bool> timed;
  std::uint64_t samples = 0;
  view.event_samples.resize(view.events.size());
  for (std::uint32_t event = 0; event < view.events.size(); ++event) {
    timed.push_back(is_timed(view.events[event].name));
    samples += timed.back() ? view.event_samples[event] : 0;
  }
  timed.push_back(false);
  view.events.push_back({std::string(kThreadTime), true});
  view.event_samples.push_back(samples);
  const auto times = std::make_shared<TimedSamples>(std::move(view.samples), std::move(timed));
  read_samples_from([times](const SampleQuery& query,
                            const SampleVisit& visit) { return times->visit(query, visit); },
                    view);
  return {};
}

}  // namespace stackpack::query
