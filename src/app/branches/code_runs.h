#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace stackpack::app {

/// How often the ranges of one image ran through a place. Give all ranges, then settle(), then ask:
/// a question costs two searches, however many ranges lie on each other.
class CodeRuns {
 public:
  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t count);
  void settle();

  /// Runs that went on after the instruction at `at`: a branch there was not taken.
  [[nodiscard]] std::uint64_t through(std::uint64_t at) const {
    return sum_until(begins_, at) - sum_until(ends_, at);
  }
  /// Runs that came to `at` from the instruction before.
  [[nodiscard]] std::uint64_t into(std::uint64_t at) const { return at == 0 ? 0 : through(at - 1); }

 private:
  using Sums = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  static std::uint64_t sum_until(const Sums& sums, std::uint64_t at);

  Sums begins_;  // place, count; after settle() of all up to it
  Sums ends_;
};

}  // namespace stackpack::app
