#include "query/event_traits.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stackpack::query {

namespace {

/// A name as perf spells it: what is counted, and how.
struct SpelledEvent {
  std::string base;
  std::string_view modifiers;  // of perf_event_open's attribute, a letter each
  bool has_terms = false;      // unit/term,term/
  std::string_view unit = {};  // of a unit's named event
};

// perf-list(1), EVENT MODIFIERS. `sched:sched_switch` has other letters: it is a tracepoint.
bool are_modifiers(std::string_view text) {
  return text.find_first_not_of("ukhIGHpPSDWebRX") == std::string_view::npos;
}

// perf-list(1), EVENT FORMATS: when a sample is taken and what is in it, not what is counted.
bool is_about_sampling(std::string_view term) {
  constexpr std::array<std::string_view, 18> kTerms = {
      "period",     "freq",       "name",       "call-graph", "stack-size",   "max-stack",
      "time",       "inherit",    "no-inherit", "percore",    "branch_type",  "overwrite",
      "aux-output", "aux-action", "max-events", "metric-id",  "no-overwrite", "aux-sample-size"};
  const std::string_view name = term.substr(0, term.find('='));
  return std::find(kTerms.begin(), kTerms.end(), name) != kTerms.end();
}

// Terms that say what is counted.
std::string counted_terms(std::string_view terms) {
  std::string kept;
  while (!terms.empty()) {
    const std::string_view term = terms.substr(0, terms.find(','));
    terms.remove_prefix(std::min(terms.size(), term.size() + 1));
    if (!is_about_sampling(term)) {
      kept += (kept.empty() ? "" : ",") + std::string(term);
    }
  }
  return kept;
}

// `cpu/cycles/` is an event of a unit, `cycles/freq=99/` one with terms, `cpu/event=0xc0/` a number
// that says something only with its unit.
SpelledEvent event_with_terms(std::string_view before, std::string_view terms,
                              std::string_view modifiers) {
  std::string counted = counted_terms(terms);
  if (counted.empty()) {
    return {std::string(before), modifiers, true};
  }
  if (counted.find_first_of("=,") == std::string::npos) {
    return {std::move(counted), modifiers, true, before};
  }
  return {std::string(before) + '/' + counted + '/', modifiers, true};
}

SpelledEvent spelled(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t end = slash == std::string_view::npos ? slash : name.find('/', slash + 1);
  if (end != std::string_view::npos && are_modifiers(name.substr(end + 1))) {
    const std::string_view terms = name.substr(slash + 1, end - slash - 1);
    return event_with_terms(name.substr(0, slash), terms, name.substr(end + 1));
  }
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && colon + 1 < name.size() &&
      are_modifiers(name.substr(colon + 1))) {
    return {std::string(name.substr(0, colon)), name.substr(colon + 1)};
  }
  return {std::string(name), {}};
}

// Which levels are counted, where not all are. Precision (p), pinning (D) and the like do not
// change what is counted, and a host (H) is where a recorder runs.
std::string scope_of(std::string_view modifiers) {
  std::string scope;
  for (const char level : {'u', 'k', 'h', 'G'}) {
    if (modifiers.find(level) != std::string_view::npos) {
      scope += level;
    }
  }
  return scope == "ukh" ? "" : scope;
}

bool is_clock(std::string_view base) {
  return base == "cpu-clock" || base == "task-clock";
}

bool is_cycles(std::string_view base) {
  constexpr std::array<std::string_view, 6> kCycles = {"cycles",     "cpu-cycles", "cpu_cycles",
                                                       "ref-cycles", "bus-cycles", "TotalCycles"};
  return std::find(kCycles.begin(), kCycles.end(), base) != kCycles.end();
}

constexpr std::string_view kCounterSample = "PerfInfo/PMCSample";

// The counter of PerfInfo/PMCSample/TotalCycles.
std::string_view counter_of(std::string_view name) {
  return name.starts_with(kCounterSample) ? name.substr(name.rfind('/') + 1) : std::string_view();
}

// Of Windows, of .NET, and what Go's profiles call the time on a processor.
bool is_profile_interrupt(std::string_view name) {
  return name.starts_with("PerfInfo/SampledProfile") || name == "Managed" || name == "cpu" ||
         name == "wall";
}

// As JDK 11 and later call it.
std::string_view java_event(std::string_view name) {
  constexpr std::string_view kOfJdk9 = "com.oracle.jdk.";
  constexpr std::string_view kOwner = "com.oracle.";
  return name.starts_with(kOfJdk9) ? name.substr(kOwner.size()) : name;
}

// Of the Java machine. A thread in native code mostly waits there; one that sleeps has a state.
bool is_java_profile(std::string_view name) {
  name = java_event(name);
  return name == "jdk.ExecutionSample" || name == "jdk.CPUTimeSample" ||
         name == "profiler.WallClockSample";
}
bool is_java_trace(std::string_view name) {
  name = java_event(name);
  return name.starts_with("jdk.NativeMethodSample") || name.starts_with("jdk.ExecutionSample/") ||
         name.starts_with("profiler.WallClockSample/");
}

// Events that are made of intervals or switches, and weigh ns.
bool is_time_of_threads(std::string_view event) {
  constexpr std::array<std::string_view, 7> kNames = {
      "blocked", "woken", "preempted", "wall-time", "latency", "cswitch", "thread-time"};
  return std::find(kNames.begin(), kNames.end(), event) != kNames.end();
}

EventKind kind_of(std::string_view name, const SpelledEvent& event) {
  const std::string_view base = event.base;
  const std::string_view counter = counter_of(name);
  if (is_java_trace(name)) {
    return EventKind::kTrace;
  }
  if (is_java_profile(name) || is_clock(base) || is_cycles(base) || is_profile_interrupt(name) ||
      is_cycles(counter)) {
    return EventKind::kTime;
  }
  const bool of_system =
      counter.empty() && base.find_first_of(event.has_terms ? ":" : ":/") != std::string_view::npos;
  return of_system || is_time_of_threads(base) || base == "External" || base == "dummy"
             ? EventKind::kTrace
             : EventKind::kWork;
}

// What the .NET runtime says of an event: how much was allocated, how long a thread waited.
std::string_view unit_in_runtime(std::string_view name) {
  if (name.ends_with("/GC/AllocationTick") || name.ends_with("/AllocationSampling")) {
    return "bytes";
  }
  return name.ends_with("/Contention/Stop") ? "ns" : std::string_view();
}

std::string unit_of(std::string_view base, EventKind kind) {
  if (const std::string_view unit = unit_in_runtime(base); !unit.empty()) {
    return std::string(unit);
  }
  if (is_clock(base) || base == "off-cpu" || base == "offcpu-time") {
    return "ns";
  }
  if (is_cycles(base)) {
    return "cycles";
  }
  const bool is_noun = kind == EventKind::kWork && base.size() > 1 && base.ends_with('s') &&
                       base.find('/') == std::string_view::npos;
  return is_noun ? std::string(base) : "events";
}

}  // namespace

EventTraits traits_of(std::string_view event) {
  const SpelledEvent name = spelled(event);
  EventTraits traits;
  traits.kind = kind_of(event, name);
  const bool same = name.base == "cpu-cycles";
  traits.same_as = same ? "cycles" : name.base;
  if (const std::string scope = scope_of(name.modifiers); !scope.empty()) {
    traits.same_as += ':' + scope;
  }
  traits.processors = name.unit;
  traits.unit = is_time_of_threads(event) ? "ns" : unit_of(name.base, traits.kind);
  return traits;
}

}  // namespace stackpack::query
