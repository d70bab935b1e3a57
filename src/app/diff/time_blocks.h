// Stretches of time of one recording.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "query/selection/capture_view.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Stretches of time of one file.
struct TimeBlocks {
  std::uint64_t begin_ns = 0;
  std::uint64_t length_ns = ~std::uint64_t{0};
  std::size_t count = 1;
  /// Times at which a stretch ends and the next one begins, ascending; empty: all have one length.
  std::vector<std::uint64_t> marks = {};

  [[nodiscard]] std::size_t of(std::uint64_t time_ns) const {
    if (!marks.empty()) {
      return static_cast<std::size_t>(std::upper_bound(marks.begin(), marks.end(), time_ns) -
                                      marks.begin());
    }
    const std::uint64_t block = time_ns < begin_ns ? 0 : (time_ns - begin_ns) / length_ns;
    return static_cast<std::size_t>(std::min<std::uint64_t>(block, count - 1));
  }
  /// Whether a time is in a block, which is not the first or the last: those take all that is
  /// outside. Without the division.
  [[nodiscard]] bool surely_in(std::size_t block, std::uint64_t time_ns) const {
    if (!marks.empty()) {
      return (block == 0 || time_ns >= marks[block - 1]) &&
             (block == marks.size() || time_ns < marks[block]);
    }
    return time_ns >= begin_ns && (time_ns - begin_ns) - block * length_ns < length_ns;
  }
  /// At which times all but the first one begin.
  [[nodiscard]] std::vector<std::uint64_t> begins() const {
    std::vector<std::uint64_t> times = marks;
    for (std::size_t block = 1; block < count && marks.empty(); ++block) {
      times.push_back(begin_ns + block * length_ns);
    }
    return times;
  }
};

inline TimeBlocks blocks_of(const Reader::TimeRange& range, std::size_t count) {
  return {range.from_ns, (range.to_ns - range.from_ns) / count + 1, count, {}};
}

/// The times of the samples of `event`, a pattern as the filter of events takes it; ascending.
/// Errors: kUsage where there are fewer than two, which is no iteration; those of the reader.
Result<std::vector<std::uint64_t>> marks_of(const query::CaptureView& view,
                                            const std::string& event);

}  // namespace stackpack::app
