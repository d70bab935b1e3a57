#include "app/diff/side_profile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "app/diff/time_blocks.h"
#include "app/diff/trace_counts.h"
#include "core/radix_sort.h"
#include "core/weight_scale.h"
#include "diff/function_identity.h"
#include "query/event_groups.h"
#include "query/naming/code_mode.h"
#include "query/naming/prefix_walk.h"
#include "query/selection/capture_view.h"
#include "query/selection/event_choice.h"
#include "query/selection/file_name.h"
#include "query/selection/sample_selection.h"
#include "query/selection/wait_events.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kBlockSeconds = 1;
// Fewer say too little of scatter; more cost memory, and say little more.
constexpr double kFewestBlocks = 16;
constexpr double kMostBlocks = 32;
constexpr std::size_t kStacksAtOnce = std::size_t{1} << 16;
constexpr std::size_t kSamplesAhead = 16;

query::FrameGrain grain_of(const DiffOptions& options) {
  switch (options.by) {
    case DiffGrain::kModule:
      return query::FrameGrain::kModule;
    case DiffGrain::kLine:
      return query::FrameGrain::kLine;
    case DiffGrain::kFunction:
    case DiffGrain::kCallstack:
      break;
  }
  return options.frames == FrameStyle::kAddress  ? query::FrameGrain::kAddress
         : options.frames == FrameStyle::kModule ? query::FrameGrain::kOffset
                                                 : query::FrameGrain::kFunction;
}

Result<ComparedEvents> compared_events_of(const query::CaptureView& view,
                                          const DiffOptions& options) {
  ComparedEvents events;
  events.aggregated = view.aggregated();
  auto groups = query::wanted_groups(view, options.filter);
  if (!groups && groups.error().code != ErrorCode::kUsage) {
    return groups.error();
  }
  events.groups = groups ? std::move(*groups) : std::vector<query::EventGroup>();
  for (const query::EventGroup& group : events.groups) {
    const std::string_view unit =
        view.fact(std::string(query::kUnitKey) + view.events[group.events.front()].name);
    events.units.push_back(
        query::measure_of(group, CountBy::kWeight, events.aggregated, unit).unit);
  }
  return events;
}

/// One file, added to the profile of its side.
class FileReading {
 public:
  /// `number`: of the file among those of its side. `known`: the functions of those before.
  FileReading(const ProfileQuery& query, std::size_t number, SideProfile& side,
              query::EntityTable& known)
      : query_(query),
        side_(side),
        known_(known),
        is_first_(known.size() == 0),
        work_(number < query.work.size() ? query.work[number] : 1) {}

  Status read(const Reader& reader) {
    auto view = query::view_for(reader, query_.options.filter);
    if (!view) {
      return view.error();
    }
    view_ = std::move(*view);
    const auto events = compared_events_of(view_, query_.options);
    if (!events) {
      return events.error();
    }
    const auto group = std::find_if(
        events->groups.begin(), events->groups.end(),
        [this](const query::EventGroup& known) { return known.key == query_.event_key; });
    if (group == events->groups.end() || group->samples == 0) {
      ++side_.runs_left_out;
      return {};
    }
    side_.has_times &= view_.has_samples;
    if (const Status chosen = choose_blocks(reader); !chosen) {
      return chosen;
    }
    units_.resize(blocks_.count);
    if (const Status counted = count(*group); !counted) {
      return counted;
    }
    hand_over_units();
    note_build_ids();
    return note_facts();
  }

 private:
  [[nodiscard]] bool has_marks() const { return !blocks_.marks.empty(); }

  void hand_over_units() {
    if (has_marks()) {
      // What came before the first mark and after the last one belongs to no iteration.
      units_.pop_back();
      units_.erase(units_.begin());
    }
    const bool any = std::any_of(units_.begin(), units_.end(),
                                 [](const ProfileUnit& unit) { return unit.value > 0; });
    const bool many = has_marks() && query_.iterations_are_runs;
    const auto count = static_cast<double>(units_.size());
    for (ProfileUnit& unit : units_) {
      unit.work = many ? work_ : work_ * iterations_ / count;
      side_.samples += unit.samples;
      if (many) {
        ++(unit.value > 0 ? side_.runs : side_.runs_left_out);
      }
      if (unit.value > 0 || query_.blocks != 0) {
        side_.units.push_back(std::move(unit));
      }
    }
    if (!many) {
      ++(any ? side_.runs : side_.runs_left_out);
    }
  }

  void note_build_ids() {
    for (const Module& module : view_.modules) {
      if (!module.build_id.empty()) {
        const std::string name = diff::identity_of_module(query::file_name_of(module));
        side_.build_ids[name].insert(std::string(module.build_id.begin(), module.build_id.end()));
      }
    }
  }

  Status note_facts() {
    if (query_.options.unit != DiffUnit::kRun) {
      return {};
    }
    const std::vector<query::Track>& tracks = selection_->tracks();
    std::map<std::uint32_t, double> processes;
    for (std::size_t i = 0; i < track_values_.size(); ++i) {
      processes[tracks[i].process] += track_values_[i];
    }
    const auto most =
        std::max_element(processes.begin(), processes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::uint32_t main = most == processes.end() ? query::kNoRow : most->first;
    const Result<RunFacts> facts = facts_of_run(view_, main);
    if (!facts) {
      return facts.error();
    }
    side_.facts.push_back(*facts);
    return {};
  }

  Status choose_iterations() {
    auto marks = marks_of(view_, query_.options.runs_by);
    if (!marks) {
      return marks.error();
    }
    iterations_ = static_cast<double>(marks->size() - 1);
    if (!query_.iterations_are_runs) {
      *marks = {marks->front(), marks->back()};
    }
    blocks_.count = marks->size() + 1;
    blocks_.marks = std::move(*marks);
    return {};
  }

  Status choose_blocks(const Reader& reader) {
    if (!query_.options.runs_by.empty()) {
      return choose_iterations();
    }
    if (query_.blocks == 0 || !view_.has_samples) {
      return {};
    }
    const auto range = reader.time_range();
    if (!range) {
      return range.error();
    }
    if (*range && (*range)->to_ns > (*range)->from_ns) {
      blocks_ = blocks_of(**range, query_.blocks);
    }
    return {};
  }

  Status count(const query::EventGroup& group) {
    options_.filter = query_.options.filter;
    options_.frames = query_.options.frames;
    options_.count = query_.weighted ? CountBy::kWeight : CountBy::kAuto;
    if (!query_.weighted && !view_.aggregated()) {
      options_.count = CountBy::kSamples;
    }
    auto selection = query::SampleSelection::create(
        view_, options_, {.is_report = true, .event_key = query_.event_key});
    if (!selection) {
      return selection.error();
    }
    selection_ = std::move(*selection);
    traces_.emplace(view_.stack_count);
    counts_.emplace(view_.stack_count, *traces_);
    weighted_ = query_.weighted || view_.aggregated();
    by_process_ = query_.options.unit == DiffUnit::kRun;
    const std::string_view unit =
        view_.fact(std::string(query::kUnitKey) + view_.events[group.events.front()].name);
    side_.decimals = weighted_ ? query_.weight_decimals : 0;
    digits_more_ = side_.decimals - std::min(side_.decimals, core::parse_unit(unit).decimals);
    counts_weigh_one_ =
        view_.aggregated() && (unit.empty() || unit == "count") && side_.decimals == 0;
    const std::vector<std::uint64_t> bounds = blocks_.begins();
    const Status counted = selection_->for_each_summed(
        {.weight = weighted_,
         .stack = true,
         .by_time = false,
         .merged = true,
         .equal_weights = weighted_ && !counts_weigh_one_,
         .bounds = bounds},
        [this](std::span<const query::SummedSample> block) {
          for (std::size_t i = 0; i < block.size(); ++i) {
            const auto& ahead = block[std::min(i + kSamplesAhead, block.size() - 1)];
            counts_->prefetch(ahead.context, ahead.stack);
            add(block[i]);
          }
          return Status{};
        });
    if (!counted) {
      return counted;
    }
    end_block();
    set_seconds();
    const IdleLeftOut& idle = selection_->idle_left_out();
    side_.idle.samples += idle.samples;
    side_.idle.value += idle.value;
    side_.idle.whole += idle.whole;
    side_.idle.pools = side_.idle.pools || idle.pools;
    return place_stacks();
  }

  void add(const query::SummedSample& sample) {
    if (!blocks_.surely_in(block_, sample.time_ns)) {
      const std::size_t block = blocks_.of(sample.time_ns);
      if (block != block_) {
        end_block();
        block_ = block;
      }
    }
    const std::uint64_t value =
        weighted_ ? core::shifted(sample.weight, digits_more_) : sample.count;
    counts_->add(sample.context, sample.stack, value);
    if (by_process_) {
      if (sample.track >= track_values_.size()) {
        track_values_.resize(std::size_t{sample.track} + 1);
      }
      track_values_[sample.track] += static_cast<double>(value);
    }
    if (!weighted_ || counts_weigh_one_) {
      ones_ += value;
      return;
    }
    const auto real = static_cast<double>(value);
    ProfileUnit& unit = units_[block_];
    unit.value += real;
    unit.squares += squares_of(value, sample.count);
    unit.samples += sample.count;
  }

  // Of samples that weigh the same, exactly what they are one by one.
  static double squares_of(std::uint64_t weight, std::uint64_t count) {
    const auto real = static_cast<double>(weight);
    const auto number = static_cast<double>(std::max<std::uint64_t>(count, 1));
    const double each = real / number;
    return weight % std::max<std::uint64_t>(count, 1) == 0 ? each * each * number
                                                           : real * real / number;
  }

  // What came since the last one belongs to a unit.
  void end_block() {
    ProfileUnit& unit = units_[block_];
    unit.value += static_cast<double>(ones_);
    unit.squares += static_cast<double>(ones_);
    unit.samples += ones_;
    ones_ = 0;
    counts_->drain([&unit](std::uint32_t trace, std::uint64_t value) {
      unit.nodes.push_back(trace);  // becomes a node in place_stacks
      unit.values.push_back(value);
    });
  }

  void set_seconds() {
    const bool any = std::any_of(units_.begin(), units_.end(),
                                 [](const ProfileUnit& unit) { return unit.samples != 0; });
    if (!view_.has_samples || (!any && side_.samples == 0)) {
      return;
    }
    const query::TimeRange range = selection_->time_range();
    side_.seconds += static_cast<double>(range.last_ns - range.first_ns) * kNanosecond;
    for (std::size_t i = 0; i < units_.size() && !has_marks(); ++i) {
      const bool last = i + 1 == units_.size();
      const std::uint64_t begin =
          i == 0 ? range.first_ns
                 : std::max(range.first_ns, blocks_.begin_ns + i * blocks_.length_ns);
      const std::uint64_t end =
          last ? range.last_ns
               : std::min(range.last_ns, blocks_.begin_ns + (i + 1) * blocks_.length_ns);
      units_[i].seconds = end > begin ? static_cast<double>(end - begin) * kNanosecond : 0;
    }
  }

  // The node of the tree at which each callstack ends.
  Status place_stacks() {
    entities_ = std::make_unique<query::FrameEntities>(*selection_, grain_of(query_.options));
    entities_->fold_inlined();
    std::vector<std::uint32_t> order(traces_->size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::uint32_t> scratch;
    core::radix_sort(order, scratch, [this](std::uint32_t trace) { return traces_->key(trace); });
    node_of_trace_.assign(order.size(), query::StackTree::kRoot);
    std::vector<std::uint32_t> run;
    for (std::size_t i = 0; i < order.size(); ++i) {
      run.push_back(order[i]);
      if (i + 1 == order.size() || run.size() == kStacksAtOnce ||
          traces_->context(order[i + 1]) != traces_->context(order[i])) {
        if (const Status placed = place_run(run); !placed) {
          return placed;
        }
        run.clear();
      }
    }
    for (std::size_t i = 0; i < number_of_entity_.size(); ++i) {
      known_.see_as(number_of_entity_[i], entities_->all()[i].mode);
    }
    if (is_first_) {
      known_ = entities_->take();
    }
    for (ProfileUnit& unit : units_) {
      for (std::uint32_t& node : unit.nodes) {
        node = node_of_trace_[node];
      }
    }
    return {};
  }

  // Traces of one context, ascending by callstack.
  Status place_run(std::span<const std::uint32_t> run) {
    std::vector<StackId> ids;
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t trace : run) {
      const StackId stack = traces_->stack(trace);
      if (stack != kNoStack) {
        ids.push_back(stack);
        numbers.push_back(trace);
      }
    }
    const std::uint32_t context = traces_->context(run.front());
    walk_.clear();
    Status status;
    const Status read = view_.callstacks(ids, [&](std::size_t at, std::span<const Frame> frames) {
      const Result<std::uint32_t> node = place(frames, context);
      status = node ? Status{} : Status(node.error());
      if (node) {
        node_of_trace_[numbers[at]] = *node;
      }
      return node.has_value();
    });
    return status ? read : status;
  }

  Result<std::uint32_t> place(std::span<const Frame> leaf_first, std::uint32_t context) {
    Status status;
    const auto use_of = [&](std::size_t index) {
      return entities_->use_of(leaf_first, index, context);
    };
    const auto look_up = [&](const query::PlacedFrame& placed, std::size_t,
                             const std::uint32_t* caller) -> std::optional<std::uint32_t> {
      std::uint32_t node = caller == nullptr ? query::StackTree::kRoot : *caller;
      const auto inner_first = entities_->of(placed.frame, placed.use, context);
      for (auto entity = inner_first.rbegin(); entity != inner_first.rend(); ++entity) {
        const Result<std::uint32_t> child = side_.tree.child(node, side_number(*entity));
        if (!child) {
          status = child.error();
          return std::nullopt;
        }
        node = *child;
      }
      return node;
    };
    if (!walk_.go_on(leaf_first, use_of, look_up)) {
      return status.error();
    }
    return leaf_first.empty() ? query::StackTree::kRoot : walk_.path().back().step;
  }

  // The first file's functions become those of its side.
  std::uint32_t side_number(std::uint32_t entity) {
    while (!is_first_ && number_of_entity_.size() <= entity) {
      number_of_entity_.push_back(known_.number(entities_->all()[number_of_entity_.size()]));
    }
    return is_first_ ? entity : number_of_entity_[entity];
  }

  const ProfileQuery& query_;
  SideProfile& side_;
  query::EntityTable& known_;
  bool is_first_;          // whose functions are kept
  double work_;            // of the file, or of each of its iterations
  double iterations_ = 1;  // of the file
  query::CaptureView view_;
  ExportOptions options_;
  TimeBlocks blocks_;
  std::unique_ptr<query::SampleSelection> selection_;
  std::unique_ptr<query::FrameEntities> entities_;
  bool weighted_ = false;
  unsigned digits_more_ = 0;  // that values have than the weights of the file
  bool counts_weigh_one_ = false;
  bool by_process_ = false;
  std::vector<double> track_values_;
  std::vector<ProfileUnit> units_;
  std::size_t block_ = 0;
  std::optional<TraceNumbers> traces_;
  std::optional<TraceCounts> counts_;
  std::uint64_t ones_ = 0;  // samples of the block that is open which count for one each
  std::vector<std::uint32_t> node_of_trace_;
  query::PrefixWalk<std::uint32_t> walk_;  // node at each frame
  std::vector<std::uint32_t> number_of_entity_;
};

}  // namespace

Result<ComparedEvents> compared_events(const Reader& reader, const DiffOptions& options) {
  const auto view = query::view_for(reader, options.filter);
  return view ? compared_events_of(*view, options) : Result<ComparedEvents>(view.error());
}

Result<std::size_t> block_count(const Reader& before, const Reader& after) {
  double seconds = 0;
  std::uint32_t file = 0;
  for (const Reader* const reader : {&before, &after}) {
    const auto range = reader->time_range();
    if (!range) {
      Error error = range.error();
      error.part = file;
      return error;
    }
    ++file;
    if (!*range || (*range)->to_ns <= (*range)->from_ns) {
      return 0;
    }
    seconds = std::max(seconds, static_cast<double>((*range)->to_ns - (*range)->from_ns) *
                                    kNanosecond / kBlockSeconds);
  }
  return static_cast<std::size_t>(std::clamp(seconds, kFewestBlocks, kMostBlocks));
}

Result<SideProfile> read_side(std::span<const Reader* const> files, const ProfileQuery& query) {
  SideProfile side;
  query::EntityTable known;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileReading reading(query, i, side, known);
    if (const Status read = reading.read(*files[i]); !read) {
      Error error = read.error();
      error.part = static_cast<std::uint32_t>(i);
      return error;
    }
  }
  side.entities = known.take();
  return side;
}

}  // namespace stackpack::app
