#include "app/diff/side_profile.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "app/diff/trace_counts.h"
#include "app/diff/trace_numbers.h"
#include "export/html/page_functions.h"
#include "export/selection/capture_view.h"
#include "export/selection/event_choice.h"
#include "export/selection/name_pattern.h"
#include "export/selection/sample_selection.h"
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

FrameGrain grain_of(const DiffOptions& options) {
  switch (options.by) {
    case DiffGrain::kModule:
      return FrameGrain::kModule;
    case DiffGrain::kLine:
      return FrameGrain::kLine;
    case DiffGrain::kFunction:
    case DiffGrain::kCallstack:
      break;
  }
  return options.frames == FrameStyle::kAddress  ? FrameGrain::kAddress
         : options.frames == FrameStyle::kModule ? FrameGrain::kOffset
                                                 : FrameGrain::kFunction;
}

/// Stretches of time of one file.
struct TimeBlocks {
  std::uint64_t begin_ns = 0;
  std::uint64_t length_ns = ~std::uint64_t{0};
  std::size_t count = 1;

  [[nodiscard]] std::size_t of(std::uint64_t time_ns) const {
    const std::uint64_t block = time_ns < begin_ns ? 0 : (time_ns - begin_ns) / length_ns;
    return static_cast<std::size_t>(std::min<std::uint64_t>(block, count - 1));
  }
  /// Whether a time is in a block, which is not the first or the last: those take all that is
  /// outside. Without the division.
  [[nodiscard]] bool surely_in(std::size_t block, std::uint64_t time_ns) const {
    return time_ns >= begin_ns && (time_ns - begin_ns) - block * length_ns < length_ns;
  }
};

TimeBlocks blocks_of(const Reader::TimeRange& range, std::size_t count) {
  return {range.from_ns, (range.to_ns - range.from_ns) / count + 1, count};
}

/// One file, added to the profile of its side.
class FileReading {
 public:
  FileReading(const ProfileQuery& query, SideProfile& side, core::StringTable& texts)
      : query_(query), side_(side), texts_(texts) {}

  Status read(const Reader& reader) {
    auto view = exporting::view_of(reader);
    if (!view) {
      return view.error();
    }
    view_ = std::move(*view);
    side_.has_times &= view_.has_samples;
    if (const Status chosen = choose_blocks(reader); !chosen) {
      return chosen;
    }
    units_.resize(blocks_.count);
    const bool has_event =
        std::any_of(view_.events.begin(), view_.events.end(),
                    [&](const Event& event) { return event.name == query_.event; });
    if (has_event) {
      if (const Status counted = count(); !counted) {
        return counted;
      }
    }
    ++side_.runs;
    for (ProfileUnit& unit : units_) {
      if (unit.value > 0 || query_.blocks != 0) {
        side_.units.push_back(std::move(unit));
      }
    }
    return {};
  }

 private:
  Status choose_blocks(const Reader& reader) {
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

  Status count() {
    options_.filter = query_.options.filter;
    options_.filter.events = {query_.event};
    options_.frames = query_.options.frames;
    auto selection = exporting::SampleSelection::create(view_, options_);
    if (!selection) {
      return selection.error();
    }
    selection_ = std::move(*selection);
    traces_.emplace(view_.stack_count);
    counts_.emplace(view_.stack_count, *traces_);
    for (const Event& event : view_.events) {
      wanted_.push_back(event.name == query_.event ? 1 : 0);
    }
    weighted_ = query_.options.unit == DiffUnit::kWeight || view_.aggregated();
    const std::string_view unit = view_.fact(std::string(exporting::kUnitKey) + query_.event);
    counts_weigh_one_ = view_.aggregated() && (unit.empty() || unit == "count");
    const Status counted = selection_->for_each_summed(
        {.weight = weighted_, .stack = true, .by_time = false},
        [this](std::span<const exporting::SummedSample> block) {
          for (std::size_t i = 0; i < block.size(); ++i) {
            const auto& ahead = block[std::min(i + kSamplesAhead, block.size() - 1)];
            counts_->prefetch(ahead.context, ahead.stack);
            if (wanted_[block[i].event] != 0) {
              add(block[i]);
            }
          }
          return Status{};
        });
    if (!counted) {
      return counted;
    }
    end_block();
    set_seconds();
    return place_stacks();
  }

  void add(const exporting::SummedSample& sample) {
    if (!blocks_.surely_in(block_, sample.time_ns)) {
      const std::size_t block = blocks_.of(sample.time_ns);
      if (block != block_) {
        end_block();
        block_ = block;
      }
    }
    const std::uint64_t value = weighted_ ? sample.weight : sample.count;
    counts_->add(sample.context, sample.stack, value);
    if (!weighted_ || counts_weigh_one_) {
      ones_ += value;
      return;
    }
    const auto real = static_cast<double>(value);
    ProfileUnit& unit = units_[block_];
    unit.value += real;
    unit.squares += real * real / static_cast<double>(std::max<std::uint64_t>(sample.count, 1));
    side_.samples += sample.count;
  }

  // What came since the last one belongs to a unit.
  void end_block() {
    ProfileUnit& unit = units_[block_];
    unit.value += static_cast<double>(ones_);
    unit.squares += static_cast<double>(ones_);
    side_.samples += ones_;
    ones_ = 0;
    counts_->drain([&unit](std::uint32_t trace, std::uint64_t value) {
      unit.nodes.push_back(trace);  // becomes a node in place_stacks
      unit.values.push_back(value);
    });
  }

  void set_seconds() {
    if (!view_.has_samples || side_.samples == 0) {
      return;
    }
    const exporting::TimeRange range = selection_->time_range();
    side_.seconds += static_cast<double>(range.last_ns - range.first_ns) * kNanosecond;
    for (std::size_t i = 0; i < units_.size(); ++i) {
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
    entities_ = std::make_unique<FrameEntities>(*selection_, grain_of(query_.options));
    std::vector<std::uint32_t> order(traces_->size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [this](std::uint32_t a, std::uint32_t b) { return traces_->before(a, b); });
    node_of_trace_.assign(order.size(), exporting::StackTree::kRoot);
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
      FrameEntity& entity = side_.entities[number_of_entity_[i]];
      entity.mode = exporting::more_telling(entity.mode, entities_->all()[i].mode);
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
    path_.clear();
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
    // Neighbours in the file begin alike at the root.
    const std::size_t depth = leaf_first.size();
    std::size_t shared = 0;
    while (shared < depth && shared < path_.size()) {
      const std::size_t at = depth - 1 - shared;
      if (path_[shared].frame != leaf_first[at] ||
          path_[shared].use != address_use(leaf_first, at)) {
        break;
      }
      ++shared;
    }
    path_.resize(shared);
    std::uint32_t node = shared == 0 ? exporting::StackTree::kRoot : path_.back().node;
    for (std::size_t i = shared; i < depth; ++i) {
      const std::size_t at = depth - 1 - i;
      const AddressUse use = address_use(leaf_first, at);
      const auto inner_first = entities_->of(leaf_first[at], use, context);
      for (auto entity = inner_first.rbegin(); entity != inner_first.rend(); ++entity) {
        const Result<std::uint32_t> child = side_.tree.child(node, side_number(*entity));
        if (!child) {
          return child;
        }
        node = *child;
      }
      path_.push_back({leaf_first[at], use, node});
    }
    return node;
  }

  std::uint32_t side_number(std::uint32_t entity) {
    while (number_of_entity_.size() <= entity) {
      const FrameEntity& next = entities_->all()[number_of_entity_.size()];
      std::string key = next.name;
      key += '\0';
      key += next.module;
      key += '\0';
      key += next.place;
      const std::uint32_t number = texts_.intern(key);
      if (number == side_.entities.size()) {
        side_.entities.push_back(next);
      }
      number_of_entity_.push_back(number);
    }
    return number_of_entity_[entity];
  }

  struct PathFrame {
    Frame frame;
    AddressUse use = AddressUse::kExact;
    std::uint32_t node = 0;
  };

  const ProfileQuery& query_;
  SideProfile& side_;
  core::StringTable& texts_;
  exporting::CaptureView view_;
  ExportOptions options_;
  TimeBlocks blocks_;
  std::unique_ptr<exporting::SampleSelection> selection_;
  std::unique_ptr<FrameEntities> entities_;
  std::vector<std::uint8_t> wanted_;  // by event
  bool weighted_ = false;
  bool counts_weigh_one_ = false;
  std::vector<ProfileUnit> units_;
  std::size_t block_ = 0;
  std::optional<TraceNumbers> traces_;
  std::optional<TraceCounts> counts_;
  std::uint64_t ones_ = 0;  // samples of the block that is open which count for one each
  std::vector<std::uint32_t> node_of_trace_;
  std::vector<PathFrame> path_;  // root first
  std::vector<std::uint32_t> number_of_entity_;
};

}  // namespace

Result<std::vector<std::string>> wanted_events(const Reader& reader, const DiffOptions& options) {
  const auto view = exporting::view_of(reader);
  if (!view) {
    return view.error();
  }
  std::vector<std::string> names;
  for (const std::uint32_t event : exporting::events_by_preference(*view)) {
    const std::string& name = view->events[event].name;
    const SampleFilter& filter = options.filter;
    const bool wanted = (filter.events.empty() || exporting::fits_any(name, filter.events)) &&
                        !exporting::fits_any(name, filter.excluded_events);
    if (wanted && view->samples_of_event(event) != 0 &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

Result<std::size_t> block_count(const Reader& before, const Reader& after) {
  double seconds = 0;
  for (const Reader* const reader : {&before, &after}) {
    const auto range = reader->time_range();
    if (!range) {
      return range.error();
    }
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
  core::StringTable texts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileReading reading(query, side, texts);
    if (const Status read = reading.read(*files[i]); !read) {
      Error error = read.error();
      error.part = static_cast<std::uint32_t>(i);
      return error;
    }
  }
  return side;
}

}  // namespace stackpack::app
