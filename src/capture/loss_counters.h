#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::capture {

/// Counters by name: every reason for which data was lost, skipped or doubted.
///
/// The names belong to those who raise them (*_losses.h of a format). A name keeps the kind of its
/// first use. Cheap enough for damaged records, not for good ones.
class LossCounters {
 public:
  /// Adds `count` to the counter `name`; `offset` is remembered when it is the lowest so far.
  /// A count of 0 makes the counter known (it shows up as 0).
  void add(std::string_view name, LossKind kind, std::uint64_t count,
           std::uint64_t offset = ~std::uint64_t{0});

  /// Sets the counter to `count` (declared totals of a header, which are not added up).
  void set(std::string_view name, LossKind kind, std::uint64_t count,
           std::uint64_t offset = ~std::uint64_t{0});

  [[nodiscard]] std::uint64_t count(std::string_view name) const;

  /// True when a counter of kind kRecorder or kDamage is above zero.
  [[nodiscard]] bool any_loss() const;

  /// All counters, sorted by name.
  [[nodiscard]] std::vector<LossCounter> sorted() const;

 private:
  std::map<std::string, LossCounter, std::less<>> counters_;
};

/// Notice: records of samples none of whose counters had advanced, so that they are no samples. The
/// summary's number of records counts them; so this name is not up to a format.
inline constexpr std::string_view kRecordsWithoutCounts = "sample_records_without_counts";

}  // namespace stackpack::capture
