#include "app/analysis/hot_spots.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "app/analysis/frame_entities.h"
#include "app/analysis/stack_entities.h"
#include "app/arrow/pid_sources.h"
#include "bytes/utf8.h"
#include "export/selection/capture_view.h"
#include "export/selection/sample_grouper.h"

namespace stackpack::app {

namespace {

using exporting::Group;
using exporting::GroupBy;

FrameGrain grain_of(const HotSpotQuery& query) {
  switch (query.by) {
    case HotSpotKind::kModule:
      return FrameGrain::kModule;
    case HotSpotKind::kLine:
      return FrameGrain::kLine;
    default:
      break;
  }
  return query.filters.frames == FrameStyle::kAddress  ? FrameGrain::kAddress
         : query.filters.frames == FrameStyle::kModule ? FrameGrain::kOffset
                                                       : FrameGrain::kFunction;
}

std::string id_text(std::string_view name, std::uint32_t id) {
  const std::string number = id == kUnknownId ? "-" : std::to_string(id);
  return name.empty() ? number : fmt::format("{} ({})", name, number);
}

/// A file, the samples wanted, and what their frames belong to.
class Counting {
 public:
  static Result<std::unique_ptr<Counting>> open(const Reader& reader, const HotSpotQuery& query) {
    auto view = exporting::view_of(reader);
    if (!view) {
      return view.error();
    }
    std::unique_ptr<Counting> counting(new Counting(std::move(*view), query));
    auto selection = exporting::SampleSelection::create(counting->view_, counting->query_.filters);
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
    counting->entities_ =
        std::make_unique<FrameEntities>(*counting->selection_, grain_of(counting->query_));
    counting->stacks_.emplace(*counting->entities_);
    return counting;
  }

  /// visit(group, entities of its callstack leaf first) for every group of samples that has a
  /// callstack; groups without one are given no entities. `frame_of[i]` is the frame of entity i.
  using Visit = std::function<void(const Group&, std::span<const std::uint32_t> leaf_first)>;
  Status each_group(const GroupBy& by, const Visit& visit) {
    const std::size_t limit = std::max<std::size_t>(
        1024, static_cast<std::size_t>(query_.filters.memory_limit /
                                       exporting::SampleGrouper::kBytesPerGroup / 2));
    GroupBy keys = by;
    keys.weight = selection_->weighted();
    exporting::SampleGrouper grouper(*selection_, keys, limit);
    return grouper.for_each([&](std::span<const Group> groups) -> Status {
      constexpr std::size_t kAtOnce = 4096;
      for (std::size_t begin = 0; begin < groups.size(); begin += kAtOnce) {
        const auto some = groups.subspan(begin, std::min(kAtOnce, groups.size() - begin));
        if (const Status visited = visit_groups(some, visit); !visited) {
          return visited;
        }
      }
      return {};
    });
  }

  /// Goes on to the next event, when the options leave the choice and this one has no sample.
  bool choose_next_event() { return selection_->choose_next_event(); }
  /// The event that was taken, when the options left the choice.
  [[nodiscard]] std::string event() const {
    return selection_->chose_event() ? view_.events[selection_->main_event()].name : std::string();
  }
  [[nodiscard]] std::uint64_t value_of(const Group& group) const {
    return selection_->weighted() ? group.weight : group.count;
  }
  [[nodiscard]] const exporting::SampleSelection& selection() const { return *selection_; }
  [[nodiscard]] const exporting::CaptureView& view() const { return view_; }
  [[nodiscard]] const FrameEntities& entities() const { return *entities_; }
  /// Host and row of the source of a process; of HotSpotKind::kSource.
  [[nodiscard]] std::string source_title(std::uint32_t pid) const {
    const std::uint32_t source = origins_->of(pid).source;
    const std::string_view host = source < sources_.size() ? std::string_view(sources_[source].host)
                                                           : view_.fact("host.name");
    return id_text(bytes::valid_utf8(host), source);
  }

 private:
  Counting(exporting::CaptureView view, const HotSpotQuery& query)
      : view_(std::move(view)), query_(query) {
    query_.filters.all_events |= query.by == HotSpotKind::kEvent;
  }

  Status visit_groups(std::span<const Group> groups, const Visit& visit) {
    ids_.clear();
    with_stack_.clear();
    for (const Group& group : groups) {
      if (group.key.stack == kNoStack) {
        visit(group, {});
      } else {
        ids_.push_back(group.key.stack);
        with_stack_.push_back(&group);
      }
    }
    return view_.callstacks(ids_, [&](std::size_t at, std::span<const Frame> frames) {
      const Group& group = *with_stack_[at];
      visit(group, stacks_->of(frames, group.key.context));
      return true;
    });
  }

  exporting::CaptureView view_;
  HotSpotQuery query_;
  std::unique_ptr<exporting::SampleSelection> selection_;
  std::unique_ptr<FrameEntities> entities_;
  std::optional<StackEntities> stacks_;
  std::vector<MergedSource> sources_;  // of a merged file
  std::optional<PidSources> origins_;
  std::vector<StackId> ids_;
  std::vector<const Group*> with_stack_;
};

// Sums by number; each number once per callstack.
class Sums {
 public:
  void begin_stack() { ++stack_; }
  void add_total(std::uint32_t number, std::uint64_t value) {
    Sum& sum = at(number);
    if (sum.last_stack != stack_) {
      sum.last_stack = stack_;
      sum.total += value;
    }
  }
  void add_self(std::uint32_t number, std::uint64_t value) { at(number).self += value; }

  template <typename Name>
  void list(std::vector<HotSpot>& rows, const Name& name) const {
    for (std::uint32_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].last_stack != 0 || sums_[i].self != 0) {
        HotSpot row = name(i);
        row.self = sums_[i].self;
        row.total = sums_[i].total;
        rows.push_back(std::move(row));
      }
    }
  }

 private:
  struct Sum {
    std::uint64_t self = 0;
    std::uint64_t total = 0;
    std::uint64_t last_stack = 0;
  };
  Sum& at(std::uint32_t number) {
    if (number >= sums_.size()) {
      sums_.resize(std::size_t{number} + 1);
    }
    return sums_[number];
  }

  std::vector<Sum> sums_;
  std::uint64_t stack_ = 0;
};

HotSpot spot_of(const FrameEntity& entity) {
  return {entity.name, entity.module, entity.place, 0, 0};
}

// The row of a group that is not counted by its frames.
std::string title_of(const Counting& counting, HotSpotKind by, const Group& group,
                     std::span<const std::uint32_t> stack) {
  const exporting::SampleSelection& selection = counting.selection();
  switch (by) {
    case HotSpotKind::kEvent:
      return counting.view().events[group.key.event].name;
    case HotSpotKind::kProcess: {
      const exporting::Track& track = selection.tracks()[group.key.track];
      return id_text(selection.process_name(track), track.pid);
    }
    case HotSpotKind::kSource:
      return counting.source_title(selection.tracks()[group.key.track].pid);
    case HotSpotKind::kThread: {
      const exporting::Track& track = selection.tracks()[group.key.track];
      return id_text(selection.thread_name(track), track.tid);
    }
    default:
      break;
  }
  std::string text;
  for (auto entity = stack.rbegin(); entity != stack.rend(); ++entity) {
    text += (text.empty() ? "" : ";") + counting.entities().all()[*entity].name;
  }
  return text.empty() ? "[no callstack]" : text;
}

bool by_frames(HotSpotKind by) {
  return by == HotSpotKind::kFunction || by == HotSpotKind::kModule || by == HotSpotKind::kLine;
}

GroupBy group_by(HotSpotKind by) {
  GroupBy keys;
  keys.context = by_frames(by) || by == HotSpotKind::kCallstack;
  keys.event = by == HotSpotKind::kEvent;
  keys.track =
      by == HotSpotKind::kProcess || by == HotSpotKind::kThread || by == HotSpotKind::kSource;
  return keys;
}

}  // namespace

void HotSpots::add(const HotSpots& other) {
  event = event.empty() ? other.event : event;
  samples += other.samples;
  value += other.value;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    known.emplace(std::tuple(rows[i].name, rows[i].module, rows[i].place), i);
  }
  for (const HotSpot& row : other.rows) {
    const auto [at, fresh] =
        known.try_emplace(std::tuple(row.name, row.module, row.place), rows.size());
    if (fresh) {
      rows.push_back(row);
    } else {
      rows[at->second].self += row.self;
      rows[at->second].total += row.total;
    }
  }
}

Result<HotSpots> hot_spots(const Reader& reader, const HotSpotQuery& query) {
  const auto counting = Counting::open(reader, query);
  if (!counting) {
    return counting.error();
  }
  HotSpots result;
  Sums sums;
  std::map<std::string, HotSpot> titled;
  Status counted;
  do {
    counted = (*counting)->each_group(
        group_by(query.by), [&](const Group& group, std::span<const std::uint32_t> stack) {
          const std::uint64_t value = (*counting)->value_of(group);
          result.samples += group.count;
          result.value += value;
          if (!by_frames(query.by)) {
            const std::string title = title_of(**counting, query.by, group, stack);
            HotSpot& row = titled.try_emplace(title, HotSpot{title, "", "", 0, 0}).first->second;
            row.self += value;
            row.total += value;
            return;
          }
          sums.begin_stack();
          if (!stack.empty()) {
            sums.add_self(stack.front(), value);
          }
          for (const std::uint32_t entity : stack) {
            sums.add_total(entity, value);
          }
        });
  } while (counted && result.samples == 0 && (*counting)->choose_next_event());
  if (!counted) {
    return counted.error();
  }
  result.event = (*counting)->event();
  sums.list(result.rows,
            [&](std::uint32_t entity) { return spot_of((*counting)->entities().all()[entity]); });
  for (auto& [title, row] : titled) {
    result.rows.push_back(std::move(row));
  }
  if (result.samples == 0) {
    return Error{ErrorCode::kUsage, kNoOffset, "no sample of the file is selected"};
  }
  return result;
}

namespace {

// Adds up what stands next to one function in callstacks.
class NeighbourSums {
 public:
  NeighbourSums(const Counting& counting, const std::string& function, NeighbourSide side)
      : counting_(counting), function_(function), side_(side) {
    result_.center.name = function;
  }

  // A callstack as numbers of entities, leaf first.
  void add(const Group& group, std::span<const std::uint32_t> stack) {
    const std::uint64_t value = counting_.value_of(group);
    result_.around.samples += group.count;
    result_.around.value += value;
    sums_.begin_stack();
    bool any = false;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (!matches(stack[i])) {
        continue;
      }
      any = true;
      result_.center.module = counting_.entities().all()[stack[i]].module;
      result_.center.self += i == 0 ? value : 0;
      const bool callers = side_ == NeighbourSide::kCallers;
      const bool none = callers ? i + 1 == stack.size() : i == 0;
      const std::uint32_t other = none ? kNothing : stack[callers ? i + 1 : i - 1] + 1;
      sums_.add_total(other, value);
      if (callers ? i == 0 : i == 1) {
        sums_.add_self(other, value);
      }
    }
    result_.center.total += any ? value : 0;
  }

  std::uint64_t samples() const { return result_.around.samples; }

  Neighbours finish() {
    result_.around.event = counting_.event();
    sums_.list(result_.around.rows, [this](std::uint32_t number) {
      return number == kNothing
                 ? HotSpot{side_ == NeighbourSide::kCallers ? "[root]" : "[self]", "", "", 0, 0}
                 : spot_of(counting_.entities().all()[number - 1]);
    });
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kNothing = 0;  // entity n is n + 1 here

  bool matches(std::uint32_t number) const {
    const FrameEntity& entity = counting_.entities().all()[number];
    return entity.name == function_ ||
           (!entity.module.empty() && function_.size() > entity.name.size() &&
            function_ == entity.module + "!" + entity.name);
  }

  const Counting& counting_;
  const std::string& function_;
  NeighbourSide side_;
  Sums sums_;
  Neighbours result_;
};

}  // namespace

Result<Neighbours> neighbours(const Reader& reader, const HotSpotQuery& query,
                              const std::string& function, NeighbourSide side) {
  const auto counting = Counting::open(reader, query);
  if (!counting) {
    return counting.error();
  }
  NeighbourSums sums(**counting, function, side);
  Status counted;
  do {
    counted = (*counting)->each_group(
        group_by(HotSpotKind::kFunction),
        [&](const Group& group, std::span<const std::uint32_t> stack) { sums.add(group, stack); });
  } while (counted && sums.samples() == 0 && (*counting)->choose_next_event());
  if (!counted) {
    return counted.error();
  }
  Neighbours result = sums.finish();
  if (result.center.total == 0) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "no function of this name occurs; `top` lists the names"};
  }
  return result;
}

void sort_hot_spots(std::vector<HotSpot>& rows, bool by_self) {
  std::sort(rows.begin(), rows.end(), [by_self](const HotSpot& a, const HotSpot& b) {
    const auto key = [by_self](const HotSpot& row) {
      return by_self ? std::tuple(~row.self, ~row.total) : std::tuple(~row.total, ~row.self);
    };
    return std::tuple(key(a), std::tie(a.name, a.module, a.place)) <
           std::tuple(key(b), std::tie(b.name, b.module, b.place));
  });
}

}  // namespace stackpack::app
