#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace stackpack::symbolize {

/// Ranges of addresses that were given one after the other: a later one takes what it covers from
/// those before. Cost: logarithmic, and proportional to the ranges that are cut.
class LatestRanges {
 public:
  struct Piece {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t number = 0;  ///< of the range it is left of
  };

  /// Calls cut(number) for what it takes bytes from. Whether there is any. `start` < `end`.
  template <typename Cut>
  bool add(std::uint64_t start, std::uint64_t end, std::uint32_t number, const Cut& cut) {
    bool covered = false;
    auto at = pieces_.lower_bound(start);
    if (at != pieces_.begin()) {
      const auto before = std::prev(at);
      if (before->second.end > start) {
        covered = true;
        const Rest rest = before->second;
        cut(rest.number);
        before->second.end = start;
        if (rest.end > end) {
          pieces_.emplace(end, rest);
        }
      }
    }
    while (at != pieces_.end() && at->first < end) {
      covered = true;
      const Rest rest = at->second;
      cut(rest.number);
      at = pieces_.erase(at);
      if (rest.end > end) {
        at = pieces_.emplace(end, rest).first;
      }
    }
    pieces_.emplace(start, Rest{end, number});
    return covered;
  }

  /// What is left of the last range given that has the address.
  [[nodiscard]] std::optional<Piece> at(std::uint64_t address) const {
    const auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin() || std::prev(after)->second.end <= address) {
      return std::nullopt;
    }
    const auto& [start, rest] = *std::prev(after);
    return Piece{start, rest.end, rest.number};
  }

 private:
  struct Rest {
    std::uint64_t end = 0;
    std::uint32_t number = 0;
  };
  std::map<std::uint64_t, Rest> pieces_;  // by start; no two share an address
};

}  // namespace stackpack::symbolize
