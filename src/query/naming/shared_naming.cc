#include "query/naming/shared_naming.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/ordered_pipeline.h"

namespace stackpack::query {

namespace {

constexpr unsigned kThreads = 2;
constexpr std::size_t kParts = 6;
constexpr std::size_t kGroupsOfPart = std::size_t{1} << 13;
constexpr std::size_t kEntitiesOfPart = std::size_t{1} << 19;  // and those of one callstack
constexpr std::uint32_t kNone = ~std::uint32_t{0};

// The groups that have callstacks: which callstack, and which group it is of.
struct Stacks {
  std::vector<StackId> ids;
  std::vector<std::size_t> groups;

  void clear() {
    ids.clear();
    groups.clear();
  }
  void add(StackId stack, std::size_t group) {
    ids.push_back(stack);
    groups.push_back(group);
  }
};

}  // namespace

struct SharedNaming::Part {
  /// Where the entities of a group stand in `entities`; of a callstack that there was no room for,
  /// kUnread.
  struct Range {
    static constexpr std::size_t kUnread = ~std::size_t{0};
    std::size_t first = kUnread;
    std::size_t count = 0;
  };

  std::span<const Group> groups;
  unsigned worker = 0;
  Stacks stacks;
  std::vector<Range> ranges;              // by group
  std::vector<std::uint32_t> entities;    // numbers of the worker
  std::vector<FrameEntity> new_entities;  // which the worker had not met before
  std::unique_ptr<FrameEntities> before;  // of the worker, which started anew with this part
};

class SharedNaming::Worker {
 public:
  Worker(const CaptureView& view, const Make& make, bool folds_broken, std::size_t most_frames)
      : view_(view), make_(make), folds_broken_(folds_broken), most_frames_(most_frames) {
    start();
  }

  /// On a thread.
  Status name(Part& part) {
    if (entities_->frame_count() >= most_frames_) {
      part.before = std::move(entities_);
      start();
    }
    part.stacks.clear();
    part.entities.clear();
    part.ranges.assign(part.groups.size(), {});
    for (std::size_t i = 0; i < part.groups.size(); ++i) {
      if (part.groups[i].key.stack != kNoStack) {
        part.stacks.add(part.groups[i].key.stack, i);
      }
    }
    const Status read =
        view_.callstacks(part.stacks.ids, [&](std::size_t at, std::span<const Frame> frames) {
          const std::size_t group = part.stacks.groups[at];
          const auto found = stacks_->of(frames, part.groups[group].key.context);
          part.ranges[group] = {part.entities.size(), found.size()};
          part.entities.insert(part.entities.end(), found.begin(), found.end());
          return part.entities.size() < kEntitiesOfPart;
        });
    const std::vector<FrameEntity>& all = entities_->all();
    part.new_entities.assign(all.begin() + static_cast<std::ptrdiff_t>(told_), all.end());
    told_ = all.size();
    return read;
  }

  /// On the thread that takes parts: what name() had found first. Then number_in() may be asked.
  void begin_part(Part& part, FrameEntities& entities) {
    if (part.before) {
      tell_modes(*part.before, entities);
      part.before.reset();
      names_.clear();
      numbers_.clear();
    }
    for (FrameEntity& entity : part.new_entities) {
      names_.push_back(std::move(entity));
      numbers_.push_back(kNone);
    }
  }

  std::uint32_t number_in(FrameEntities& entities, std::uint32_t number) {
    std::uint32_t& known = numbers_[number];
    if (known == kNone) {
      known = entities.number_of(names_[number]);
    }
    return known;
  }

  /// While no thread has a part: the kinds of code that entities were seen as since.
  void tell_modes(FrameEntities& entities) const { tell_modes(*entities_, entities); }

 private:
  void start() {
    entities_ = make_();
    stacks_.emplace(*entities_, folds_broken_);
    told_ = 0;
  }

  void tell_modes(const FrameEntities& own, FrameEntities& entities) const {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] != kNone) {
        entities.see_as(numbers_[i], own.all()[i].mode);
      }
    }
  }

  const CaptureView& view_;
  const Make make_;
  const bool folds_broken_;
  const std::size_t most_frames_;
  std::unique_ptr<FrameEntities> entities_;
  std::optional<StackEntities> stacks_;
  std::size_t told_ = 0;  // entities that parts had
  // By number of `entities_`, of the thread that takes parts:
  std::vector<FrameEntity> names_;
  std::vector<std::uint32_t> numbers_;
};

SharedNaming::SharedNaming(const CaptureView& view, FrameEntities& entities, const Make& make,
                           bool folds_broken, std::size_t most_frames)
    : view_(view), entities_(entities), stacks_(entities, folds_broken) {
  for (unsigned i = 0; i < kThreads; ++i) {
    workers_.push_back(std::make_unique<Worker>(view, make, folds_broken, most_frames));
  }
}

SharedNaming::~SharedNaming() = default;

Status SharedNaming::take_rest(const Part& part, const Visit& visit, bool& goes_on) {
  Stacks rest;
  for (std::size_t i = 0; i < part.groups.size(); ++i) {
    if (part.groups[i].key.stack != kNoStack && part.ranges[i].first == Part::Range::kUnread) {
      rest.add(part.groups[i].key.stack, i);
    }
  }
  return view_.callstacks(rest.ids, [&](std::size_t at, std::span<const Frame> frames) {
    const Group& group = part.groups[rest.groups[at]];
    return goes_on = visit(group, stacks_.of(frames, group.key.context));
  });
}

// False: no more.
bool SharedNaming::take(Part& part, const Visit& visit) {
  Worker& worker = *workers_[part.worker];
  worker.begin_part(part, entities_);
  for (std::size_t i = 0; i < part.groups.size(); ++i) {
    const auto [first, count] = part.ranges[i];
    const bool has_stack = part.groups[i].key.stack != kNoStack;
    if (has_stack && first == Part::Range::kUnread) {
      continue;
    }
    const std::span<std::uint32_t> found =
        has_stack ? std::span(part.entities).subspan(first, count) : std::span<std::uint32_t>();
    for (std::uint32_t& entity : found) {
      entity = worker.number_in(entities_, entity);
    }
    if (!visit(part.groups[i], found)) {
      return false;
    }
  }
  return true;
}

Status SharedNaming::each(std::span<const Group> groups, const Visit& visit) {
  bool goes_on = true;
  core::OrderedPipeline<Part> pipeline(
      kThreads, kParts,
      [this](unsigned worker, Part& part) {
        part.worker = worker;
        return workers_[worker]->name(part);
      },
      [&](Part& part) -> Status {
        goes_on = goes_on && take(part, visit);
        return goes_on ? take_rest(part, visit, goes_on) : Status{};
      });
  for (std::size_t begin = 0; begin < groups.size() && goes_on; begin += kGroupsOfPart) {
    pipeline.filling().groups =
        groups.subspan(begin, std::min(kGroupsOfPart, groups.size() - begin));
    if (const Status status = pipeline.submit(); !status) {
      return status;
    }
  }
  const Status status = pipeline.drain();
  for (const auto& worker : workers_) {
    worker->tell_modes(entities_);
  }
  return status;
}

}  // namespace stackpack::query
