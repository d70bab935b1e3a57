#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/c_handles.h"
#include "stackpack/diff.h"

struct stackpack_diff {  // NOLINT(readability-identifier-naming): a C name
  stackpack::DiffReport report;
  stackpack::GateOptions gate;
};

namespace {

using stackpack::DiffFigure;
using stackpack::DiffOptions;
using stackpack::EventDiff;
using stackpack::Result;
using stackpack::bindings::fail;
using stackpack::bindings::guard;
using stackpack::bindings::hand_over;
using stackpack::bindings::refuse;
using stackpack::bindings::text_of;

using Readers = std::vector<const stackpack::Reader*>;

bool take_readers(const stackpack_reader* const* from, size_t count, Readers& readers) {
  if (from == nullptr && count != 0) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (from[i] == nullptr) {
      return false;
    }
    readers.push_back(from[i]->reader.get());
  }
  return true;
}

// What cost is for each of, and what has other names now.
bool take_work(const stackpack_diff_options& given, DiffOptions& options) {
  if ((given.work_of_files == nullptr && given.work_count != 0) ||
      (given.renames == nullptr && given.rename_count != 0)) {
    return false;
  }
  options.work = given.work != nullptr ? given.work : "";
  options.runs_by = given.runs_by != nullptr ? given.runs_by : "";
  const std::span amounts(given.work_of_files, given.work_count);
  options.work_of_files.assign(amounts.begin(), amounts.end());
  const std::span names(given.renames, 2 * given.rename_count);
  for (std::size_t i = 0; i < given.rename_count; ++i) {
    if (names[2 * i] == nullptr || names[2 * i + 1] == nullptr) {
      return false;
    }
    options.renames.emplace_back(names[2 * i], names[2 * i + 1]);
  }
  return true;
}

bool take_diff_options(const stackpack_diff_options* from, DiffOptions& options,
                       stackpack::GateOptions& gate) {
  stackpack_diff_options given{};
  if (!stackpack::bindings::take_options(from, given)) {
    return false;
  }
  if (given.grain > STACKPACK_BY_CALLSTACK || given.unit > STACKPACK_PER_RUN) {
    return false;
  }
  gate.accept_single_run = given.accept_single_run != 0;
  options.accept_single_run = gate.accept_single_run;
  options.by = static_cast<stackpack::DiffGrain>(given.grain);
  options.unit = static_cast<stackpack::DiffUnit>(given.unit);
  options.all_events = given.all_events != 0;
  if (given.event != nullptr) {
    options.filter.events = {given.event};
  }
  if (given.whole != nullptr) {
    options.whole = given.whole;
  }
  options.rate = given.mistakes != 0 ? given.mistakes : options.rate;
  options.run_variation = given.run_variation < 0    ? 0
                          : given.run_variation == 0 ? options.run_variation
                                                     : given.run_variation;
  return take_work(given, options);
}

std::string string_of(const char* text) {
  return text == nullptr ? "" : text;
}

// What a C caller has counted, by side.
struct Counted {
  std::array<std::vector<stackpack::CountedRun>, 2> sides;
  std::vector<stackpack::CountedFunction> functions;
  stackpack::CountedEvent event;
};

bool has_lists(const stackpack_counted& from) {
  return (from.runs != nullptr || from.run_count == 0) &&
         (from.functions != nullptr || from.function_count == 0) &&
         (from.counts != nullptr || from.count_count == 0);
}

// False: a count of no run or function.
bool take_counts(const stackpack_counted& from, Counted& counted) {
  counted.event.name = string_of(from.event);
  if (from.measure != nullptr) {
    counted.event.unit = stackpack::DiffUnit::kWeight;
    counted.event.measure = from.measure;
  }
  std::vector<std::size_t> at;  // by run: its number on its side
  for (const stackpack_counted_run& run : std::span(from.runs, from.run_count)) {
    auto& side = counted.sides[run.after == 0 ? 0 : 1];
    at.push_back(side.size());
    side.push_back({run.value, run.samples, run.squares, {}});
  }
  for (const auto& function : std::span(from.functions, from.function_count)) {
    counted.functions.push_back(
        {string_of(function.name), string_of(function.module), string_of(function.build_id)});
  }
  for (const stackpack_function_count& count : std::span(from.counts, from.count_count)) {
    if (count.run >= at.size() || count.function >= counted.functions.size()) {
      return false;
    }
    auto& side = counted.sides[from.runs[count.run].after == 0 ? 0 : 1];
    side[at[count.run]].counts.push_back(
        {static_cast<std::uint32_t>(count.function), count.self, count.total});
  }
  return true;
}

stackpack_diff_figure figure_of(const DiffFigure& from) {
  stackpack_diff_figure to{};
  to.old_value = from.old_value;
  to.new_value = from.new_value;
  to.old_share = from.old_share;
  to.new_share = from.new_share;
  to.low = from.low;
  to.high = from.high;
  to.ratio_low = from.ratio_low;
  to.ratio_high = from.ratio_high;
  to.least_visible = from.least_visible;
  to.p = from.p;
  to.overdispersion = from.overdispersion;
  to.verdict = static_cast<std::uint64_t>(from.verdict);
  return to;
}

const EventDiff* event_of(const stackpack_diff* diff, std::size_t event) {
  return diff != nullptr && event < diff->report.events.size() ? &diff->report.events[event]
                                                               : nullptr;
}

}  // namespace

extern "C" {

stackpack_status stackpack_compare(const stackpack_reader* const* before, size_t before_count,
                                   const stackpack_reader* const* after, size_t after_count,
                                   const stackpack_diff_options* options, stackpack_diff** diff) {
  return guard([&] {
    Readers olds;
    Readers news;
    DiffOptions wanted;
    stackpack::GateOptions gate;
    if (diff == nullptr || !take_readers(before, before_count, olds) ||
        !take_readers(after, after_count, news)) {
      return refuse("a null pointer in place of a reader or of the result");
    }
    if (!take_diff_options(options, wanted, gate)) {
      return refuse(
          "struct_size is not set, an unknown grain or unit, or a null pointer in a list");
    }
    Result<stackpack::DiffReport> report = stackpack::compare_profiles(olds, news, wanted);
    if (!report) {
      return fail(report.error());
    }
    *diff = std::make_unique<stackpack_diff>(stackpack_diff{std::move(*report), gate}).release();
    return STACKPACK_OK;
  });
}

stackpack_status stackpack_compare_counts(const stackpack_counted* counted,
                                          const stackpack_diff_options* options,
                                          stackpack_diff** diff) {
  return guard([&] {
    stackpack_counted given{};
    Counted taken;
    DiffOptions wanted;
    stackpack::GateOptions gate;
    if (diff == nullptr || counted == nullptr ||
        !stackpack::bindings::take_options(counted, given) || !has_lists(given)) {
      return refuse("a null pointer in place of what was counted or of the result");
    }
    if (!take_diff_options(options, wanted, gate)) {
      return refuse("struct_size is not set, or an unknown grain or unit");
    }
    if (!take_counts(given, taken)) {
      return refuse("a count of a run or a function that is not listed");
    }
    auto event = stackpack::compare_counts(taken.sides[0], taken.sides[1], taken.functions,
                                           taken.event, wanted);
    if (!event) {
      return fail(event.error());
    }
    auto made = std::make_unique<stackpack_diff>();
    made->gate = gate;
    made->report.unit = event->unit;
    made->report.events.push_back(std::move(*event));
    *diff = made.release();
    return STACKPACK_OK;
  });
}

void stackpack_free_diff(stackpack_diff* diff) {
  const std::unique_ptr<stackpack_diff> owned(diff);
}

size_t stackpack_diff_event_count(const stackpack_diff* diff) {
  return diff == nullptr ? 0 : diff->report.events.size();
}

stackpack_status stackpack_get_event_diff(const stackpack_diff* diff, size_t event,
                                          stackpack_event_diff* result) {
  const EventDiff* const from = event_of(diff, event);
  if (from == nullptr) {
    return refuse("there is no such event in the comparison");
  }
  stackpack_event_diff to{};
  to.event = text_of(from->event);
  to.rows = from->rows.size();
  to.old_samples = from->old_side.samples;
  to.new_samples = from->new_side.samples;
  to.tests = from->tests;
  to.level = from->level;
  to.scatter = static_cast<std::uint32_t>(from->scatter);
  to.doubts = static_cast<std::uint32_t>(from->doubts.size());
  to.has_whole = from->whole ? 1 : 0;
  to.whole = from->whole ? figure_of(*from->whole) : stackpack_diff_figure{};
  to.measure = text_of(from->measure);
  to.work = text_of(from->work);
  return hand_over(result, to);
}

stackpack_status stackpack_get_diff_row(const stackpack_diff* diff, size_t event, size_t row,
                                        stackpack_diff_row* result) {
  const EventDiff* const from = event_of(diff, event);
  if (from == nullptr || row >= from->rows.size()) {
    return refuse("there is no such row in the comparison");
  }
  const stackpack::DiffRow& found = from->rows[row];
  stackpack_diff_row to{};
  to.name = text_of(found.name);
  to.module = text_of(found.module);
  to.place = text_of(found.place);
  to.self = figure_of(found.self);
  to.total = figure_of(found.total);
  return hand_over(result, to);
}

stackpack_status stackpack_check_gate(const stackpack_diff* diff, const char* condition,
                                      const char* allowed, uint32_t* outcome, size_t* findings) {
  return guard([&] {
    if (diff == nullptr || condition == nullptr || outcome == nullptr || findings == nullptr) {
      return refuse("a null pointer");
    }
    const auto parsed = stackpack::parse_gate_condition(condition);
    if (!parsed) {
      return refuse("the text is no condition, such as share +0.5pp");
    }
    const auto changes = stackpack::parse_allowed_changes(allowed == nullptr ? "" : allowed);
    if (!changes) {
      return fail(changes.error());
    }
    const auto gate = stackpack::check_gate(diff->report, std::span(&*parsed, std::size_t{1}),
                                            *changes, diff->gate);
    if (!gate) {
      return fail(gate.error());
    }
    *outcome = static_cast<std::uint32_t>(gate->results.front().outcome);
    *findings = static_cast<std::size_t>(std::count_if(
        gate->findings.begin(), gate->findings.end(),
        [](const stackpack::GateFinding& finding) { return !finding.allowed && !finding.unsure; }));
    return STACKPACK_OK;
  });
}

}  // extern "C"
