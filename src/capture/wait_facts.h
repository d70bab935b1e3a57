#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackpack::capture {

/// How switches were recorded.
struct SwitchFacts {
  /// Whether the switches of all threads are recorded; unknown: their records tell.
  std::optional<bool> system_wide{};
  /// There are records of all threads of a processor, for want of another answer.
  bool has_wide_records = false;
  /// Samples of switches and wakings are wanted themselves, besides the intervals.
  bool keeps_samples = true;
};

/// What a source knows of all its SchedRecords together. Only the source's thread uses it until
/// the capture is read.
class WaitFacts : public SwitchFacts {
 public:
  /// Rows that are always there.
  static constexpr std::uint32_t kNoReason = 0;
  static constexpr std::uint32_t kUnknownReason = 1;  ///< "?"
  static constexpr std::uint32_t kNewReason = 2;      ///< "new"
  static constexpr std::size_t kMostReasons = 4096;

  /// The number of a reason; that of "?" when there are too many.
  std::uint32_t reason(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) {
      return known->second;
    }
    if (reasons_.size() == kMostReasons) {
      return kUnknownReason;
    }
    const auto number = static_cast<std::uint32_t>(reasons_.size());
    reasons_.emplace_back(text);
    numbers_.emplace(reasons_.back(), number);
    return number;
  }
  [[nodiscard]] const std::vector<std::string>& reasons() const { return reasons_; }

  /// Numbers of records, in the order in which they come from several traces.
  std::uint64_t next_order() { return order_++; }

 private:
  std::uint64_t order_ = 0;
  std::vector<std::string> reasons_{"", "?", "new"};
  std::map<std::string, std::uint32_t, std::less<>> numbers_{{"", 0}, {"?", 1}, {"new", 2}};
};

}  // namespace stackpack::capture
