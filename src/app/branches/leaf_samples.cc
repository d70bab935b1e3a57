#include "app/branches/leaf_samples.h"

#include <memory>
#include <set>
#include <span>

#include "app/branches/image_branches.h"
#include "capture/branch_order.h"
#include "capture/module_map.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_grouper.h"
#include "query/selection/sample_selection.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

constexpr std::size_t kGroupsAtOnce = std::size_t{1} << 20;

class LeafCounter {
 public:
  LeafCounter(const Reader& reader, const query::CaptureView& view,
              const query::SampleSelection& selection)
      : reader_(reader),
        selection_(selection),
        map_(view.processes, view.modules),
        rows_(image_rows(view.modules)) {}

  Status add(std::span<const query::Group> groups) {
    const std::span<const query::MappingContext> contexts = selection_.contexts();
    ids_.clear();
    placed_.clear();
    for (const query::Group& group : groups) {
      events_.insert(group.key.event);
      if (group.key.stack == kNoStack) {
        leaves_.without_image = saturating_sum(leaves_.without_image, group.count);
      } else {
        ids_.push_back(group.key.stack);
        placed_.push_back(&group);
      }
    }
    return reader_.callstacks(ids_, [&](std::size_t at, std::span<const Frame> frames) {
      const query::Group& group = *placed_[at];
      const query::MappingContext& context = contexts[group.key.context];
      const auto hit =
          frames.empty() ? std::nullopt : map_.find(context.pid, context.time_ns, frames.front());
      std::uint64_t& count =
          hit ? leaves_.images[rows_[hit->module]][hit->offset] : leaves_.without_image;
      count = saturating_sum(count, group.count);
      return true;
    });
  }

  LeafSamples finish() {
    std::set<std::string> names;
    for (const std::uint32_t event : events_) {
      names.insert(selection_.view().events[event].name);
    }
    leaves_.events.assign(names.begin(), names.end());
    return std::move(leaves_);
  }

 private:
  const Reader& reader_;
  const query::SampleSelection& selection_;
  capture::ModuleMap map_;
  std::vector<std::uint32_t> rows_;
  std::vector<StackId> ids_;
  std::vector<const query::Group*> placed_;  // by ids_
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
  query::SampleGrouper grouper(**selection,
                               {.event = true, .context = true, .track = false, .weight = false},
                               kGroupsAtOnce);
  LeafCounter counter(reader, *view, **selection);
  const Status read =
      grouper.for_each([&](std::span<const query::Group> groups) { return counter.add(groups); });
  return read ? Result<LeafSamples>(counter.finish()) : Result<LeafSamples>(read.error());
}

}  // namespace stackpack::app
