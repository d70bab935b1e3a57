#include "cli/measure_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/human_text.h"
#include "cli/text_escape.h"
#include "core/weight_scale.h"

namespace stackpack::cli {

namespace {

struct Step {
  std::string_view values;  // the unit of values; empty: any other
  std::string_view shown;   // in front of it, or in its place
  double size;              // from which on it is taken, and what one of it is
};

// The first that fits. Three digits behind the point show what the whole consists of.
constexpr std::array<Step, 8> kSteps = {{{"ns", "s", 1e9},
                                         {"ns", "ms", 1e6},
                                         {"ns", "us", 1e3},
                                         {"bytes", "GiB", 1024.0 * 1024 * 1024},
                                         {"bytes", "MiB", 1024.0 * 1024},
                                         {"bytes", "KiB", 1024.0},
                                         {"", "G ", 1e9},
                                         {"cycles", "M ", 1e6}}};

}  // namespace

MeasureScale::MeasureScale(std::string_view scaled, std::uint64_t whole)
    : unit_(core::parse_unit(scaled).unit), decimals_(core::parse_unit(scaled).decimals) {
  const std::string_view unit = unit_;
  const auto power = static_cast<double>(core::power_of_ten(decimals_));
  const bool scales_alone = unit == "ns" || unit == "bytes" || unit == "samples";
  for (const Step& step : kSteps) {
    const bool is_for = step.values == unit || (step.values.empty() && !scales_alone);
    if (is_for && static_cast<double>(whole) / power >= step.size) {
      divisor_ = step.size * power;
      unit_ = step.shown.ends_with(' ') ? std::string(step.shown) + unit_ : std::string(step.shown);
      return;
    }
  }
}

std::string MeasureScale::text(std::uint64_t value) const {
  return divisor_ == 1 ? grouped_decimal({value, decimals_})
                       : fmt::format("{:.3f}", static_cast<double>(value) / divisor_);
}

std::string grouped_decimal(const core::ScaledNumber& number) {
  const std::string text = core::decimal_text(number.digits, number.decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  return grouped(number.digits / core::power_of_ten(number.decimals)) + text.substr(point);
}

std::string measured_text(std::uint64_t value, std::string_view unit) {
  const MeasureScale scale(unit, value);
  return fmt::format("{} {}", scale.text(value), scale.unit());
}

std::string idle_sentence(const IdleLeftOut& idle) {
  if (idle.samples == 0) {
    return {};
  }
  constexpr double kPercent = 100;
  return idle.whole > 0 ? fmt::format("idle: {:.1f} % of {} left out, {} shows it",
                                      idle.share() * kPercent, idle.whose(), idle.option())
                        : fmt::format("idle: {} left out, {} shows them",
                                      counted(idle.samples, "sample"), idle.option());
}

std::string left_out_sentence(const std::vector<EventCount>& others, std::string_view remedy) {
  constexpr std::size_t kMostNames = 6;
  if (others.empty()) {
    return {};
  }
  std::string text = "not shown:";
  for (std::size_t i = 0; i < std::min(others.size(), kMostNames); ++i) {
    text += i == 0 ? " " : ", ";
    append_escaped(text, others[i].name);
    text +=
        others[i].samples == 0 ? "" : fmt::format(" ({})", counted(others[i].samples, "sample"));
  }
  if (others.size() > kMostNames) {
    text += fmt::format(" and {} more", others.size() - kMostNames);
  }
  return fmt::format("{}; {}", text, remedy);
}

}  // namespace stackpack::cli
