#include "app/analysis/sample_counting.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "app/analysis/image_packages.h"
#include "app/analysis/report_plan.h"
#include "bytes/utf8.h"
#include "core/saturating.h"
#include "query/name_pattern.h"
#include "query/selection/cut_notices.h"
#include "query/selection/wait_events.h"

namespace stackpack::app {

namespace {

using query::Group;

constexpr Error kStopped{ErrorCode::kCancelled, kNoOffset, "stopped"};

query::FrameGrain grain_of(const HotSpotQuery& query) {
  switch (query.by) {
    case HotSpotKind::kModule:
    case HotSpotKind::kPackage:
      return query::FrameGrain::kModule;
    case HotSpotKind::kLine:
      return query::FrameGrain::kLine;
    case HotSpotKind::kFile:
      return query::FrameGrain::kFile;
    case HotSpotKind::kUnlinedAddress:
      return query::FrameGrain::kUnlinedAddress;
    case HotSpotKind::kCodeAddress:
      return query::FrameGrain::kCodeAddress;
    default:
      break;
  }
  return query.filters.frames == FrameStyle::kAddress  ? query::FrameGrain::kAddress
         : query.filters.frames == FrameStyle::kModule ? query::FrameGrain::kOffset
                                                       : query::FrameGrain::kFunction;
}

}  // namespace

std::string id_text(std::string_view name, std::uint32_t id) {
  const std::string number = id == kUnknownId ? "-" : std::to_string(id);
  return name.empty() ? number : fmt::format("{} ({})", name, number);
}

HotSpot spot_of(const query::FrameEntity& entity) {
  return {entity.name, entity.module, entity.place, 0, 0, std::nullopt, entity.aliases};
}

Result<std::unique_ptr<SampleCounting>> SampleCounting::open(const Reader& reader,
                                                             const HotSpotQuery& asked) {
  const HotSpotQuery query = with_wait_event(asked);
  auto view = query::view_for(reader, query.filters.filter);
  if (!view) {
    return view.error();
  }
  std::unique_ptr<SampleCounting> counting(new SampleCounting(reader, std::move(*view), query));
  if (const Status found = counting->find_types(reader); !found) {
    return found.error();
  }
  if (query.by == HotSpotKind::kControlGroup && counting->view_.control_groups.empty()) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "the file does not say of what control groups its samples are"};
  }
  auto selection = query::SampleSelection::create(
      counting->view_, counting->query_.filters,
      {.is_report = true,
       .numbers = query.by == HotSpotKind::kControlGroup || counting->labels_.has_value(),
       .event_key = counting->query_.event_key,
       .processors_apart = query.by == HotSpotKind::kEvent});
  if (!selection) {
    return selection.error();
  }
  counting->selection_ = std::move(*selection);
  if (query.by == HotSpotKind::kSource) {
    Result<std::vector<MergedSource>> sources = reader.sources();
    if (!sources) {
      return sources.error();
    }
    counting->sources_ = std::move(*sources);
    counting->origins_.emplace(counting->sources_, !counting->sources_.empty());
  }
  counting->entities_ = counting->make_entities();
  counting->stacks_.emplace(*counting->entities_, query.folds_broken);
  Result<StackFilter> filter = StackFilter::create(query.patterns);
  if (!filter) {
    return filter.error();
  }
  counting->filter_ = std::move(*filter);
  if (!counting->filter_.empty() || !query.types.empty()) {
    counting->shown_.resize(std::size_t{counting->view_.stack_count} + 1);
  }
  return counting;
}

std::unique_ptr<query::FrameEntities> SampleCounting::make_entities() const {
  auto entities =
      std::make_unique<query::FrameEntities>(*selection_, grain_of(query_), query_.linkage_names);
  if (!query_.patterns.empty()) {
    entities->keep_functions();
  }
  if (query_.patterns.empty() && (query_.folds_inlined || query_.by == HotSpotKind::kCallstack)) {
    entities->fold_inlined();
  }
  if (query_.by == HotSpotKind::kPackage) {
    entities->group_modules([packages = ImagePackages(view_.modules)](const Module& module) {
      return std::string(packages.of(module));
    });
  }
  return entities;
}

// Types of samples, if they are asked for; then the event is one that names them.
Status SampleCounting::find_types(const Reader& reader) {
  if (!query_.asks_for_types() && !query_.asks_for_fields()) {
    return {};
  }
  if (query_.asks_for_fields()) {
    Result<query::LabelValues> labels = query::LabelValues::load(view_, query_.field);
    if (!labels) {
      return labels.error();
    }
    if (labels->any() || (query_.is_label && view_.label_sets)) {
      labels_ = std::move(*labels);
      return {};
    }
  }
  Result<SampleTypes> types = query_.asks_for_fields()
                                  ? SampleTypes::load_field(reader, query_.field)
                                  : SampleTypes::load(reader);
  if (!types) {
    return types.error();
  }
  types_ = std::move(*types);
  const bool chooses = query_.event_key.empty() && query_.filters.filter.events.empty() &&
                       !query_.filters.all_events;
  if (!chooses) {
    return {};
  }
  const auto groups = query::wanted_groups(view_, query_.filters.filter);
  if (!groups) {
    return groups.error();
  }
  const query::EventGroup* typed = nullptr;
  if (query_.asks_for_fields()) {
    const auto found = std::find_if(
        groups->begin(), groups->end(),
        [this](const query::EventGroup& group) { return types_->has_values(group.name); });
    typed = found == groups->end() ? nullptr : &*found;
  } else {
    typed = group_with_types(*groups);
  }
  if (typed != nullptr) {
    query_.event_key = typed->key;
  }
  return {};
}

SampleCounting::RowOfSample SampleCounting::row_by_type(const query::GroupBy& by) {
  types_->begin_pass();
  const bool by_type = query_.by == HotSpotKind::kType || query_.by == HotSpotKind::kField;
  return [this, by_type, by_track = by.track](
             const query::SelectedSample& sample) -> std::optional<std::uint32_t> {
    const std::uint32_t type = types_->find(sample, view_.events[sample.event].name);
    if (!query_.types.empty() && !query::fits_any(types_->title(type), query_.types)) {
      return std::nullopt;
    }
    return by_type ? type : by_track ? sample.track : 0;
  };
}

// Groups by what the columns of samples do not say. Memory: all groups.
Status SampleCounting::each_group_of_samples(const query::GroupBy& by, const RowOfSample& row_of,
                                             const Visit& visit) {
  std::map<query::GroupKey, Group> groups;
  const auto take = [&](std::span<const query::SelectedSample> samples) -> Status {
    for (const query::SelectedSample& sample : samples) {
      const std::optional<std::uint32_t> row = row_of(sample);
      if (!row) {
        continue;
      }
      const query::GroupKey key{selection_->choice().joined(sample.event), sample.stack,
                                by.context ? sample.context : 0, *row};
      Group& group = groups.try_emplace(key, Group{key}).first->second;
      group.count += sample.count;
      core::add_saturating(group.weight, sample.weight);
    }
    return {};
  };
  if (const Status read = selection_->for_each(take); !read) {
    return read;
  }
  std::vector<Group> all;
  all.reserve(groups.size());
  for (const auto& [key, group] : groups) {
    all.push_back(group);
  }
  return visit_in_parts(all, visit);
}

Status SampleCounting::each_group(const query::GroupBy& by, const Visit& visit) {
  const std::size_t limit = std::max<std::size_t>(
      1024, static_cast<std::size_t>(query_.filters.memory_limit /
                                     query::SampleGrouper::kBytesPerGroup / 2));
  query::GroupBy keys = by;
  keys.weight = selection_->choice().any_weighted();
  keys.context |= !filter_.empty();
  keys.stack |= !filter_.empty();
  keys.numbers_tracks = false;
  keys.event = true;  // what samples count for is a matter of their event
  if (types_) {
    return each_group_of_samples(keys, row_by_type(keys), visit);
  }
  if (labels_) {
    const auto row_of = [this](const query::SelectedSample& sample) {
      return std::optional(labels_->find(sample.label_set));
    };
    return each_group_of_samples(keys, row_of, visit);
  }
  if (query_.by == HotSpotKind::kControlGroup) {
    const auto row_of = [](const query::SelectedSample& sample) {
      return std::optional(sample.control_group);
    };
    return each_group_of_samples(keys, row_of, visit);
  }
  query::SampleGrouper grouper(*selection_, keys, limit);
  return grouper.for_each(
      [&](std::span<const Group> groups) { return visit_in_parts(groups, visit); });
}

void SampleCounting::show(const Group& group, std::span<const std::uint32_t> stack,
                          const Visit& visit) {
  const auto shown = filter_.apply(stack, *entities_);
  if (!shown) {
    return;
  }
  if (!shown_.empty()) {
    shown_[std::min<std::size_t>(group.key.stack, shown_.size() - 1)] = true;
  }
  visit(group, *shown);
}

Status SampleCounting::visit_shared(std::span<const Group> groups, const Visit& visit) {
  if (!shared_naming_) {
    shared_naming_.emplace(
        view_, *entities_, [this] { return make_entities(); }, query_.folds_broken);
  }
  const Status named =
      shared_naming_->each(groups, [&](const Group& group, std::span<const std::uint32_t> stack) {
        show(group, stack, visit);
        return !query_.is_stopped();
      });
  return named && query_.is_stopped() ? Status(kStopped) : named;
}

Status SampleCounting::visit_in_parts(std::span<const Group> groups, const Visit& visit) {
  if (view_.parts && groups.size() >= query::SharedNaming::kManyGroups) {
    return visit_shared(groups, visit);
  }
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < groups.size(); begin += kAtOnce) {
    const auto some = groups.subspan(begin, std::min(kAtOnce, groups.size() - begin));
    if (const Status visited = visit_groups(some, visit); !visited) {
      return visited;
    }
    if (query_.is_stopped()) {
      return kStopped;
    }
  }
  return {};
}

void SampleCounting::describe(HotSpots& spots) const {
  const query::EventChoice& choice = selection_->choice();
  const std::uint32_t main = choice.main_event();
  if (choice.is_chosen() || choice.groups().size() == 1) {
    spots.event = choice.name_of(main);
  }
  spots.unit = choice.measure_of(main).unit;
  spots.events_left_out = choice.left_out();
  for (std::uint32_t event = 0; event < view_.events.size(); ++event) {
    if (choice.wants(event) && view_.samples_of_event(event) != 0) {
      spots.parts.push_back(view_.events[event].name);
    }
  }
  spots.idle = selection_->idle_left_out();
  spots.notices = query::cut_notices(reader_, query::cut_stacks_of(reader_, *selection_, shown_));
}

std::string SampleCounting::control_group_title(const Group& group) const {
  const std::uint32_t row = group.key.track;
  return row < view_.control_groups.size() ? query::control_group_title(view_.control_groups[row])
                                           : "[no cgroup]";
}

std::string SampleCounting::source_title(std::uint32_t pid) const {
  const std::uint32_t source = origins_->of(pid).source;
  const std::string_view host =
      source < sources_.size() ? std::string_view(sources_[source].host) : view_.fact("host.name");
  return id_text(bytes::valid_utf8(host), source);
}

Status SampleCounting::visit_groups(std::span<const Group> groups, const Visit& visit) {
  ids_.clear();
  with_stack_.clear();
  for (const Group& group : groups) {
    if (group.key.stack == kNoStack) {
      show(group, {}, visit);
    } else {
      ids_.push_back(group.key.stack);
      with_stack_.push_back(&group);
    }
  }
  return view_.callstacks(ids_, [&](std::size_t at, std::span<const Frame> frames) {
    const Group& group = *with_stack_[at];
    const auto stack = stacks_->of(frames, group.key.context);
    show(group, stack, visit);
    return !query_.is_stopped();
  });
}

}  // namespace stackpack::app
