#include "app/analysis/runtime_reports.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "app/analysis/event_value_table.h"

namespace stackpack::app {

namespace {

// Source: the runtime's documentation of MethodLoadVerbose, bits 7 to 9 of its flags.
std::string tier_name(std::uint64_t tier) {
  constexpr std::array<std::string_view, 8> kNames = {"(no tier)",
                                                      "minimal optimization",
                                                      "optimized",
                                                      "quick (tier 0)",
                                                      "optimized (tier 1)",
                                                      "replaced on the stack (tier 1)",
                                                      "instrumented (tier 0)",
                                                      "instrumented (tier 1)"};
  return tier < kNames.size() ? std::string(kNames[static_cast<std::size_t>(tier)])
         : tier == kNoValue   ? "(not recorded)"
                              : fmt::format("tier {}", tier);
}

std::uint64_t known(std::uint64_t value) {
  return value == kNoValue ? 0 : value;
}

}  // namespace

Result<JitReport> jit_report(const Reader& reader, std::size_t limit) {
  enum Fields : std::size_t { kDuration, kCode, kIl, kTier, kMethod };
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  JitReport report;
  ValueSums tiers;
  ValueSums processes;
  ValueSums methods;
  ValueSums callers;
  Status named;
  const Status read = values->visit([&](const EventValueTable::Row& row) {
    if (row.kind != capture::ValueKind::kJit) {
      return;
    }
    const std::uint64_t ns = known(row.fields[kDuration]);
    const std::uint64_t code = known(row.fields[kCode]);
    ++report.methods;
    report.ns += ns;
    report.code_bytes += code;
    report.il_bytes += known(row.fields[kIl]);
    const Result<std::string> caller = values->function(*row.value);
    if (!caller) {
      named = caller.error();
      return;
    }
    const std::string& method = values->text(row.fields[kMethod]);
    for (ValueSum* const sum : {&tiers.of(tier_name(row.fields[kTier])),
                                &processes.of(values->process(row.value->pid, row.value->time_ns)),
                                &methods.of(method.empty() ? "(unknown method)" : method),
                                &callers.of(caller->empty() ? "(no callstack)" : *caller)}) {
      ++sum->count;
      sum->bytes += code;
      sum->ns += ns;
      sum->most_ns = std::max(sum->most_ns, ns);
    }
  });
  if (!read || !named) {
    return read ? named.error() : read.error();
  }
  const auto by_time = [](const ValueSum& sum) { return sum.ns; };
  report.tiers = tiers.largest(0, by_time);
  report.processes = processes.largest(0, by_time);
  report.slowest = methods.largest(limit, by_time);
  report.callers = callers.largest(limit, by_time);
  report.all_methods = methods.size();
  report.all_callers = callers.size();
  return report;
}

}  // namespace stackpack::app
