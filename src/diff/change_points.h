// When did a series of measurements change its level?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stackpack::diff {

/// A place where a series goes on at another level.
struct ChangePoint {
  std::size_t index = 0;  ///< of the first value after the change
  double before = 0;      ///< means of the stretches on both sides
  double after = 0;
  double p = 1;
};

/// A stretch of values at a level that the others do not have.
struct OtherLevel {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< behind its last value: the end of the series, or before that
  double p = 1;
};

/// The stretch that differs most surely from all other values: from some place on, or up to another
/// one, where the series goes back (circular binary segmentation, Olshen et al. 2004). The stretch
/// and what lies on each side of it are two values at least, or nothing; nothing is found in fewer
/// than four values.
///
/// The p value is that of Student's t with pooled variance, times the number of places (Bonferroni;
/// half of the level for one place, half for two). It is also at least that of the test without the
/// one value of each side that speaks most for a change: what rests on a single value is none, so
/// that one disturbed measurement, or the latest one alone, is no new level.
/// Cost: the square of the number of values.
std::optional<OtherLevel> surest_level(std::span<const double> values);

/// All changes with a p value up to `level`, in order: the surest ones, and then those of the
/// stretches between them. A change stays when its neighbouring stretches differ at `level` by
/// themselves. p is that of the stretch in which a change was found.
/// Cost: as surest_level, times changes.
std::vector<ChangePoint> change_points(std::span<const double> values, double level);

}  // namespace stackpack::diff
