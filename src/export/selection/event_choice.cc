#include "export/selection/event_choice.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <tuple>

namespace stackpack::exporting {

namespace {

// cpu-clock:u and cpu_core/cycles/P without what surrounds the name.
std::string_view bare_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos && name.find('/', slash + 1) != std::string_view::npos) {
    name.remove_prefix(slash + 1);
    return name.substr(0, name.find_first_of("/,"));
  }
  return name.substr(0, name.find(':'));
}

unsigned rank_of(std::string_view name) {
  constexpr std::array<std::string_view, 6> kTime = {"cycles",     "cpu-cycles", "cpu-clock",
                                                     "task-clock", "ref-cycles", "bus-cycles"};
  constexpr std::array<std::string_view, 2> kTimeOfWindows = {"PerfInfo/SampledProfile",
                                                              "PerfInfo/PMCSample"};
  if (std::any_of(kTimeOfWindows.begin(), kTimeOfWindows.end(),
                  [name](std::string_view known) { return name.starts_with(known); })) {
    return 0;
  }
  const std::string_view bare = bare_name(name);
  if (std::find(kTime.begin(), kTime.end(), bare) != kTime.end()) {
    return 0;
  }
  return bare == "instructions" ? 1 : 2;
}

}  // namespace

std::vector<std::uint32_t> events_by_preference(const CaptureView& view) {
  std::vector<std::uint32_t> order(view.events.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto place = [&view](std::uint32_t event) {
    return std::tuple(view.samples_of_event(event) == 0, rank_of(view.events[event].name));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&place](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  return order;
}

bool shows_one_event(const CaptureView& view, const ExportOptions& options) {
  if (options.all_events || !options.filter.events.empty()) {
    return false;
  }
  switch (options.format) {
    case ExportFormat::kFolded:
      return true;
    case ExportFormat::kPprof:
      return !view.aggregated();
    case ExportFormat::kSpeedscope:
      return options.speedscope.aggregate || view.aggregated();
    case ExportFormat::kFirefox:
    case ExportFormat::kOtlp:
    case ExportFormat::kCsv:
    case ExportFormat::kHtml:
      break;
  }
  return false;
}

}  // namespace stackpack::exporting
