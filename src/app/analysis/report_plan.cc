#include "app/analysis/report_plan.h"

#include <algorithm>
#include <utility>

#include "app/analysis/sample_types.h"
#include "query/selection/capture_view.h"
#include "query/selection/event_choice.h"
#include "query/selection/label_choice.h"
#include "query/selection/wait_events.h"

namespace stackpack::app {

HotSpotQuery with_wait_event(HotSpotQuery query) {
  SampleFilter& filter = query.filters.filter;
  filter.wait_detail = query.by == HotSpotKind::kWaker    ? WaitDetail::kByWaker
                       : query.by == HotSpotKind::kReason ? WaitDetail::kByReason
                                                          : filter.wait_detail;
  if (!query.filters.all_events) {
    filter = query::with_wait_event(std::move(filter));
  }
  return query;
}

Result<FileEvents> events_of_file(const Reader& reader, const HotSpotQuery& query) {
  const auto view = query::view_for(reader, query.filters.filter);
  if (!view) {
    return view.error();
  }
  auto groups = query::wanted_groups(*view, query.filters.filter);
  if (!groups) {
    return groups.error();
  }
  const Result<bool> labelled =
      query.asks_for_fields() ? query::has_label(*view, query.field) : Result<bool>(false);
  if (!labelled) {
    return labelled.error();
  }
  const bool by_label = *labelled || (query.is_label && view->label_sets != nullptr);
  if (query.asks_for_fields() && !by_label && query.filters.filter.events.empty()) {
    const auto names = tracepoints_with(reader, query.field);
    if (!names) {
      return names.error();
    }
    std::erase_if(*groups, [&names](const query::EventGroup& group) {
      return std::none_of(names->begin(), names->end(), [&group](const std::string& name) {
        return is_tracepoint(group.name, name);
      });
    });
  }
  return FileEvents{std::move(*groups), view->aggregated()};
}

bool ReportPlan::takes(const FileEvents& file) const {
  return event_key.empty() || std::any_of(file.groups.begin(), file.groups.end(),
                                          [this](const query::EventGroup& group) {
                                            return group.key == event_key && group.samples != 0;
                                          });
}

namespace {

bool shows_all_events(const HotSpotQuery& query) {
  return query.filters.all_events || !query.filters.filter.events.empty() ||
         query.by == HotSpotKind::kEvent;
}

bool any_aggregated(std::span<const FileEvents> files) {
  return std::any_of(files.begin(), files.end(),
                     [](const FileEvents& file) { return file.aggregated; });
}

}  // namespace

ReportPlan plan_report(std::span<const FileEvents> files, const HotSpotQuery& query) {
  ReportPlan plan;
  plan.count = query.filters.count;
  std::vector<std::vector<query::EventGroup>> groups;
  for (const FileEvents& file : files) {
    groups.push_back(file.groups);
  }
  const std::vector<query::EventGroup> joint = query::joint_groups(groups);
  const bool all = shows_all_events(query);
  const query::EventGroup* const typed = query.asks_for_types() ? group_with_types(joint) : nullptr;
  const query::EventGroup* const first = joint.empty() ? nullptr : &joint.front();
  const query::EventGroup* const shown = typed != nullptr ? typed : first;
  if (shown != nullptr && !all) {
    plan.event_key = shown->key;
    plan.event = shown->name;
    if (typed == nullptr) {
      plan.events_left_out = query::groups_left_out(joint);
    }
  }
  if (plan.count == CountBy::kAuto && !any_aggregated(files)) {
    const bool weighs = shown != nullptr && shown->has_weight && (!all || joint.size() == 1);
    plan.count = weighs ? CountBy::kWeight : CountBy::kSamples;
  }
  return plan;
}

}  // namespace stackpack::app
