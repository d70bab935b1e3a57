#include "app/branches/leaf_samples.h"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "app/branches/image_branches.h"
#include "capture/branch_order.h"
#include "capture/module_map.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

class LeafCounter {
 public:
  LeafCounter(const Reader& reader, const query::CaptureView& view)
      : reader_(reader),
        view_(view),
        map_(view.processes, view.modules),
        rows_(image_rows(view.modules)) {}

  Status add(const query::SelectedSample& sample) {
    events_.insert(sample.event);
    if (sample.stack == kNoStack) {
      leaves_.without_image = saturating_sum(leaves_.without_image, sample.count);
      return {};
    }
    // In one context addresses mean the same.
    const std::uint64_t key = std::uint64_t{sample.context} << 32U | sample.stack;
    auto known = places_.find(key);
    if (known == places_.end()) {
      if (const Status read = reader_.callstack(sample.stack, frames_); !read) {
        return read;
      }
      std::uint64_t* place = &leaves_.without_image;
      if (!frames_.empty()) {
        const auto hit = map_.find(sample.pid, sample.time_ns, frames_.front());
        place = hit ? &leaves_.images[rows_[hit->module]][hit->offset] : place;
      }
      known = places_.emplace(key, place).first;
    }
    *known->second = saturating_sum(*known->second, sample.count);
    return {};
  }

  LeafSamples finish() {
    std::set<std::string> names;
    for (const std::uint32_t event : events_) {
      names.insert(view_.events[event].name);
    }
    leaves_.events.assign(names.begin(), names.end());
    return std::move(leaves_);
  }

 private:
  const Reader& reader_;
  const query::CaptureView& view_;
  capture::ModuleMap map_;
  std::vector<std::uint32_t> rows_;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, std::uint64_t*> places_;  // counts, which stay where they are
  std::set<std::uint32_t> events_;
  LeafSamples leaves_;
};

}  // namespace

Result<LeafSamples> leaf_samples(const Reader& reader, const SampleFilter& filter) {
  const Result<query::CaptureView> view = query::view_of(reader);
  if (!view) {
    return view.error();
  }
  ExportOptions options;
  options.filter = filter;
  options.all_events = filter.events.empty();
  options.count = CountBy::kSamples;
  const auto selection = query::SampleSelection::create(*view, options);
  if (!selection) {
    return selection.error();
  }
  LeafCounter counter(reader, *view);
  const Status read =
      (*selection)->for_each([&](std::span<const query::SelectedSample> samples) -> Status {
        for (const query::SelectedSample& sample : samples) {
          if (const Status added = counter.add(sample); !added) {
            return added;
          }
        }
        return {};
      });
  return read ? Result<LeafSamples>(counter.finish()) : Result<LeafSamples>(read.error());
}

}  // namespace stackpack::app
