// Weights that are not whole: numbers whose last digits stand behind a point, and their units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackpack::core {

/// Most digits of a weight behind the point.
inline constexpr unsigned kMostDecimals = 9;

/// Key of metadata that says what weights of an event are counted in: this, and its name.
inline constexpr std::string_view kUnitKey = "pprof.unit.";

/// 10^`digits`, of at most 19.
constexpr std::uint64_t power_of_ten(unsigned digits) {
  std::uint64_t power = 1;
  for (unsigned i = 0; i < digits; ++i) {
    power *= 10;
  }
  return power;
}

/// `value` times 10^`digits`; 2^64-1 where that is too much.
std::uint64_t shifted(std::uint64_t value, unsigned digits);

/// A number with `decimals` digits behind the point, without zeros at its end: 0.25 of 25 and 2.
std::string decimal_text(std::uint64_t value, unsigned decimals);

/// The unit of a whole number that stands for one with `decimals` digits behind the point:
/// `bytes*10^-2`.
std::string scaled_unit(std::string_view unit, unsigned decimals);

/// A number whose last digits stand behind the point.
struct ScaledNumber {
  std::uint64_t digits = 0;
  unsigned decimals = 0;
};

struct ScaledUnit {
  std::string_view unit;
  unsigned decimals = 0;
};
/// The two parts of such a text; a unit of any other form has no decimals.
ScaledUnit parse_unit(std::string_view text);

/// A weight as a file has it: digits * 10^-decimals.
struct DecimalWeight {
  std::uint64_t digits = 0;
  unsigned decimals = 0;
  bool rounded = false;  ///< further digits are not in it
};

/// A number as texts have it: digits, perhaps a point and more digits. A sign or anything else is
/// none; a whole part of 2^64 or more neither.
std::optional<DecimalWeight> parse_decimal(std::string_view text);

/// `value` * 10^`shift` with at most `most` digits behind the point: the shortest digits that are
/// read as the same double. Too large ones are 2^64-1, negative ones 0.
DecimalWeight decimal_of(double value, int shift = 0, unsigned most = kMostDecimals);

}  // namespace stackpack::core
