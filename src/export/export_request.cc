// What a user asks for in words: names of formats, and times.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "stackpack/export.h"

namespace stackpack {

namespace {

constexpr std::array<std::string_view, 6> kFormatNames = {"folded",  "pprof", "speedscope",
                                                          "firefox", "otlp",  "csv"};

}  // namespace

std::span<const std::string_view> export_format_names() {
  return kFormatNames;
}

std::optional<ExportFormat> export_format_of(std::string_view name) {
  const auto found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  if (found == kFormatNames.end()) {
    return std::nullopt;
  }
  return static_cast<ExportFormat>(found - kFormatNames.begin());
}

std::optional<ExportTime> parse_export_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr std::array<Unit, 4> kUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const char* const end = text.data() + text.size();
  std::uint64_t whole = 0;
  const auto integer = std::from_chars(text.data(), end, whole);
  if (integer.ec == std::errc() && integer.ptr == end) {
    return ExportTime{whole, false};
  }
  double number = 0;
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !(number >= 0)) {
    return std::nullopt;
  }
  const std::string_view unit_name(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& u) { return u.name == unit_name; });
  constexpr double kLongest = 9e18;  // below 2^63 ns, nearly three centuries
  if (unit == kUnits.end() || number * unit->ns > kLongest) {
    return std::nullopt;
  }
  return ExportTime{static_cast<std::uint64_t>(std::llround(number * unit->ns)), true};
}

}  // namespace stackpack
