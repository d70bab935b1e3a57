#include "cli/human_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace stackpack::cli {

namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

struct TimeUnit {
  std::string_view word;
  std::uint64_t nanoseconds;
};
constexpr std::array kTimeUnits = {TimeUnit{"s", kNanosecondsPerSecond}, TimeUnit{"ms", 1'000'000},
                                   TimeUnit{"us", 1'000}, TimeUnit{"ns", 1}};

std::string three_digits(double value, std::string_view unit) {
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::optional<double> unit_of(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr double kKi = 1024;
  constexpr double kK = 1000;
  constexpr std::array kUnits = {
      Unit{"", 1},
      Unit{"B", 1},
      Unit{"K", kKi},
      Unit{"KiB", kKi},
      Unit{"KB", kK},
      Unit{"M", kKi * kKi},
      Unit{"MiB", kKi * kKi},
      Unit{"MB", kK * kK},
      Unit{"G", kKi * kKi * kKi},
      Unit{"GiB", kKi * kKi * kKi},
      Unit{"GB", kK * kK * kK},
      Unit{"T", kKi * kKi * kKi * kKi},
      Unit{"TiB", kKi * kKi * kKi * kKi},
      Unit{"TB", kK * kK * kK * kK},
  };
  for (const Unit& unit : kUnits) {
    if (unit.name == text) {
      return unit.bytes;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr double kStep = 1024;
  constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.5 would print as 1000; the next unit begins there.
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= kStep;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : three_digits(value, kUnits[unit]);
}

std::string human_seconds(double seconds) {
  constexpr std::uint64_t kMinute = 60;
  constexpr std::uint64_t kHour = 60 * kMinute;
  if (seconds < 60) {
    return three_digits(seconds, "s");
  }
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < kHour) {
    return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  }
  return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
}

std::string human_share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) {
    return "-";
  }
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}f} %", share, share >= 10 ? 1 : share >= 1 || part == 0 ? 2 : 3);
}

std::string human_ratio(double ratio) {
  return ratio == 0     ? "-"
         : ratio < 0.95 ? fmt::format("{:.2g}x", ratio)
                        : fmt::format("{:.1f}x", ratio);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc{}) {
    return std::nullopt;
  }
  const auto unit = unit_of(text.substr(static_cast<std::size_t>(end - text.data())));
  constexpr double kLargest = 9.2e18;
  if (!unit || !(number >= 0) || number * *unit > kLargest) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(number * *unit);
}

std::optional<std::uint64_t> parse_time_step(std::string_view text) {
  double number = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view word = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto* const unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                                        [word](const TimeUnit& one) { return one.word == word; });
  if (failure != std::errc{} || unit == kTimeUnits.end()) {
    return std::nullopt;
  }
  // Exact for what people write: a double has 53 bits, and thousandths of a unit are whole.
  constexpr double kLargest = 9e15;
  const double product = number * static_cast<double>(unit->nanoseconds);
  const double whole = std::round(product);
  if (!(product >= 0) || product > kLargest || std::abs(product - whole) > 1e-6) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(whole);
}

std::string time_step_text(std::uint64_t step_ns) {
  const auto* const unit = std::find_if(
      kTimeUnits.begin(), kTimeUnits.end() - 1,
      [step_ns](const TimeUnit& one) { return step_ns != 0 && step_ns % one.nanoseconds == 0; });
  return fmt::format("{} {}", step_ns / unit->nanoseconds, unit->word);
}

std::string seconds_text(std::uint64_t time_ns) {
  return fmt::format("{}.{:09}", time_ns / kNanosecondsPerSecond, time_ns % kNanosecondsPerSecond);
}

std::string milliseconds_text(std::uint64_t time_ns) {
  constexpr std::uint64_t kNanosecondsPerMillisecond = 1'000'000;
  return fmt::format("{}.{:06}", time_ns / kNanosecondsPerMillisecond,
                     time_ns % kNanosecondsPerMillisecond);
}

}  // namespace stackpack::cli
