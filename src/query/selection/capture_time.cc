// Times as users write them. Digits are read as integers: a double would change the last ones.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "stackpack/filter.h"

namespace stackpack {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t ns;
};
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::array<Unit, 4> kUnits = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", kSecond}}};

std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

// `whole.fraction` units in ns; digits below a nanosecond are dropped.
std::optional<std::uint64_t> to_ns(std::string_view whole, std::string_view fraction,
                                   std::uint64_t unit_ns) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t units = 0;
  for (const char digit : whole) {
    const auto value = static_cast<std::uint64_t>(digit - '0');
    if (units > (kMost - value) / 10) {
      return std::nullopt;
    }
    units = units * 10 + value;
  }
  if (units > kMost / unit_ns) {
    return std::nullopt;
  }
  std::uint64_t ns = units * unit_ns;
  std::uint64_t place = unit_ns;
  for (const char digit : fraction) {
    place /= 10;
    const std::uint64_t part = static_cast<std::uint64_t>(digit - '0') * place;
    if (part > kMost - ns) {
      return std::nullopt;
    }
    ns += part;
  }
  return ns;
}

}  // namespace

std::optional<CaptureTime> parse_capture_time(std::string_view text) {
  const bool plus = text.starts_with('+');
  text.remove_prefix(plus ? 1 : 0);
  const std::string_view whole = take_digits(text);
  const bool point = text.starts_with('.');
  text.remove_prefix(point ? 1 : 0);
  const std::string_view fraction = point ? take_digits(text) : std::string_view();
  if (whole.empty() || (point && fraction.empty())) {
    return std::nullopt;
  }
  std::uint64_t unit_ns = point ? kSecond : 1;
  if (!text.empty()) {
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                   [text](const Unit& known) { return known.name == text; });
    if (unit == kUnits.end()) {
      return std::nullopt;
    }
    unit_ns = unit->ns;
  }
  const std::optional<std::uint64_t> ns = to_ns(whole, fraction, unit_ns);
  return ns ? std::optional(CaptureTime{*ns, plus || !text.empty()}) : std::nullopt;
}

}  // namespace stackpack
