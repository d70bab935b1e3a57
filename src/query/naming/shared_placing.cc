#include "query/naming/shared_placing.h"

#include <algorithm>
#include <optional>

#include "core/number_table.h"
#include "core/ordered_pipeline.h"
#include "query/naming/broken_roots.h"

namespace stackpack::query {

namespace {

constexpr unsigned kPlacingThreads = 2;
constexpr std::size_t kPlacingParts = 6;
constexpr std::size_t kStacksOfPart = std::size_t{1} << 13;
constexpr std::size_t kFramesOfPart = std::size_t{1} << 19;  // and those of one callstack
constexpr std::size_t kMostFrames = std::size_t{1} << 19;    // that a thread knows
constexpr std::uint32_t kNoName = ~std::uint32_t{0};

struct PlacedHash {
  std::uint64_t operator()(const PlacedFrame& placed) const {
    return core::mix_bits(placed.frame.address << 4 ^
                          static_cast<std::uint64_t>(placed.frame.mode) << 1 ^
                          static_cast<std::uint64_t>(placed.use));
  }
};

}  // namespace

struct SharedPlacing::Part {
  struct Stack {
    std::size_t end = 0;  // in `frames`
    std::uint32_t shared = 0;
    bool is_broken = false;
  };

  std::span<const StackId> ids;
  std::size_t first_position = 0;
  unsigned worker = 0;
  bool starts_anew = false;   // numbers of the worker before this part mean nothing any more
  std::vector<Stack> stacks;  // fewer than ids where there was no room
  std::vector<std::uint32_t> frames;    // numbers of the worker
  std::vector<PlacedFrame> new_frames;  // which the worker had not met before
};

class SharedPlacing::Worker {
 public:
  Worker(const SampleSelection& selection, bool folds_broken, std::size_t most_frames)
      : selection_(selection), most_frames_(most_frames) {
    if (folds_broken) {
      broken_.emplace(selection);
    }
  }

  /// While no thread has a part.
  void begin(std::uint32_t context) {
    context_ = context;
    frames_.clear();
    told_ = 0;
    names_.clear();
  }

  /// On a thread.
  Status place(Part& part) {
    part.stacks.clear();
    part.frames.clear();
    walk_.clear();
    part.starts_anew = frames_.size() >= most_frames_;
    if (part.starts_anew) {
      frames_.clear();
      told_ = 0;
    }
    const Status read =
        selection_.view().callstacks(part.ids, [&](std::size_t, std::span<const Frame> leaf_first) {
          add(leaf_first, part);
          return part.frames.size() < kFramesOfPart;
        });
    const auto all = frames_.values();
    part.new_frames.assign(all.begin() + static_cast<std::ptrdiff_t>(told_), all.end());
    told_ = all.size();
    return read;
  }

  /// On the thread that takes parts, before the names of one are asked for.
  void begin_part(const Part& part) {
    if (part.starts_anew) {
      names_.clear();
    }
    first_new_ = names_.size();
    names_.resize(first_new_ + part.new_frames.size(), kNoName);
  }

  std::uint32_t name_of(std::uint32_t frame, const Part& part, const Name& name) {
    std::uint32_t& known = names_[frame];
    if (known == kNoName) {
      known = name(part.new_frames[frame - first_new_]);
    }
    return known;
  }

 private:
  void add(std::span<const Frame> leaf_first, Part& part) {
    const MappingContext& mapping = selection_.contexts()[context_];
    const std::size_t broken = broken_ ? broken_->count(leaf_first, context_) : 0;
    if (is_broken_ != (broken != 0)) {
      is_broken_ = broken != 0;
      walk_.clear();
    }
    leaf_first = leaf_first.first(leaf_first.size() - broken);
    const std::size_t before = part.frames.size();
    walk_.go_on(
        leaf_first,
        [&](std::size_t index) {
          return selection_.symbols().use_of(leaf_first, index, mapping.pid, mapping.time_ns);
        },
        [&](const PlacedFrame& placed, std::size_t, const char*) {
          part.frames.push_back(frames_.number(placed));
          return std::optional<char>(0);
        });
    const std::size_t fresh = part.frames.size() - before;
    part.stacks.push_back(
        {part.frames.size(), static_cast<std::uint32_t>(leaf_first.size() - fresh), is_broken_});
  }

  const SampleSelection& selection_;
  const std::size_t most_frames_;
  std::optional<BrokenRoots> broken_;
  bool is_broken_ = false;  // the latest callstack
  std::uint32_t context_ = 0;
  PrefixWalk<char> walk_;
  core::NumberTable<PlacedFrame, PlacedHash> frames_;
  std::size_t told_ = 0;  // frames that parts had
  // By number of `frames_`, of the thread that takes parts:
  std::vector<std::uint32_t> names_;
  std::size_t first_new_ = 0;  // of the part
};

// The parts of the callstacks that were asked for.
struct SharedPlacing::Run {
  Run(SharedPlacing& placing, std::span<const StackId> wanted)
      : ids(wanted),
        pipeline(
            kPlacingThreads, kPlacingParts,
            [&placing](unsigned worker, Part& part) {
              part.worker = worker;
              return placing.workers_[worker]->place(part);
            },
            [this](Part& part) { return take(part); }) {}

  /// Fills the next part with callstacks. Result: how many; 0 when there are no more.
  std::size_t fill() {
    Part& part = pipeline.filling();
    part.first_position = next;
    part.ids = ids.subspan(next, std::min(kStacksOfPart, ids.size() - next));
    return part.ids.size();
  }

  std::span<const StackId> ids;
  std::size_t next = 0;
  std::function<Status(Part&)> take;
  core::OrderedPipeline<Part> pipeline;  // last: its threads use what is above
};

SharedPlacing::SharedPlacing(const SampleSelection& selection, bool folds_broken,
                             std::size_t most_frames) {
  for (unsigned i = 0; i < kPlacingThreads; ++i) {
    workers_.push_back(std::make_unique<Worker>(selection, folds_broken, most_frames));
  }
}

SharedPlacing::~SharedPlacing() = default;

Status SharedPlacing::take(Part& part, const Name& name, const Visit& visit) {
  Worker& worker = *workers_[part.worker];
  worker.begin_part(part);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < part.stacks.size(); ++i) {
    const Part::Stack& stack = part.stacks[i];
    const auto frames = std::span(part.frames).subspan(begin, stack.end - begin);
    for (std::uint32_t& frame : frames) {
      frame = worker.name_of(frame, part, name);
    }
    const Status visited = visit({part.first_position + i, stack.is_broken, stack.shared, frames});
    if (!visited) {
      return visited;
    }
    begin = stack.end;
  }
  return {};
}

void SharedPlacing::begin(std::span<const StackId> ids, std::uint32_t context) {
  run_.reset();
  for (const auto& worker : workers_) {
    worker->begin(context);
  }
  run_ = std::make_unique<Run>(*this, ids);
  for (std::size_t count = run_->fill(); count != 0 && run_->pipeline.submit_ahead();
       count = run_->fill()) {
    run_->next += count;
  }
}

Status SharedPlacing::each(std::span<const StackId> ids, std::uint32_t context, const Name& name,
                           const Visit& visit,
                           const std::function<Status(std::size_t, std::size_t)>& rest) {
  if (run_ == nullptr) {
    begin(ids, context);
  }
  const std::unique_ptr<Run> run = std::move(run_);
  run->take = [&](Part& part) -> Status {
    const Status taken = take(part, name, visit);
    const std::size_t done = part.stacks.size();
    return taken && done != part.ids.size()
               ? rest(part.first_position + done, part.first_position + part.ids.size())
               : taken;
  };
  for (std::size_t count = run->fill(); count != 0; count = run->fill()) {
    if (const Status status = run->pipeline.submit(); !status) {
      return status;
    }
    run->next += count;
  }
  return run->pipeline.drain();
}

}  // namespace stackpack::query
