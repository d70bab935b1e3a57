// What figures count, for a person.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/weight_scale.h"
#include "stackpack/export.h"
#include "stackpack/stats.h"

namespace stackpack::cli {

/// How the figures of one table are written: all of them in one unit, which its head names.
class MeasureScale {
 public:
  /// `unit`: what values are counted in ("ns", "cycles", "samples", ...), of scaled ones
  /// "bytes*10^-2"; `whole`: the largest one.
  MeasureScale(std::string_view unit, std::uint64_t whole);

  /// As a head of a column and after a figure: `s`, `G cycles`, `samples`.
  [[nodiscard]] const std::string& unit() const { return unit_; }
  /// `12.345`, or `1,234` where the unit is that of the values.
  [[nodiscard]] std::string text(std::uint64_t value) const;

 private:
  std::string unit_;
  unsigned decimals_ = 0;
  double divisor_ = 1;
};

/// `1,234.5`
std::string grouped_decimal(const core::ScaledNumber& number);

/// A value with its unit: `12.345 s`, `1,234 samples`.
std::string measured_text(std::uint64_t value, std::string_view unit);

/// `idle: 91.9 % of the processors' time left out, --idle shows it`; empty where nothing was.
std::string idle_sentence(const IdleLeftOut& idle);

/// `not shown: page-faults (35 samples), ...; REMEDY`; empty where nothing was left out.
std::string left_out_sentence(const std::vector<EventCount>& others, std::string_view remedy);

}  // namespace stackpack::cli
