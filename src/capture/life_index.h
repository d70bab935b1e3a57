#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "core/sort_rows.h"
#include "stackpack/model.h"

namespace stackpack::capture {

inline constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

/// Finds the life of a process or thread that was running at a time: of the rows with a key, the
/// one started last before it.
///
/// `Key` of a row is what key_of(row) gives. The rows must outlive the index.
template <typename Row, typename KeyOf>
class LifeIndex {
 public:
  explicit LifeIndex(std::span<const Row> rows, KeyOf key_of = {})
      : rows_(rows), key_of_(key_of), order_(rows.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    core::sort_rows(order_, [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  }

  struct Found {
    std::uint32_t row = kNoRow;
    std::uint64_t valid_until = ~std::uint64_t{0};  ///< first time at which the answer may differ
  };

  template <typename Key>
  [[nodiscard]] Found find(const Key& key, std::uint64_t time_ns) const {
    const auto after = std::upper_bound(
        order_.begin(), order_.end(), std::tuple(key, time_ns),
        [&](const auto& wanted, std::uint32_t row) { return wanted < place(row); });
    Found found;
    if (after != order_.end() && key_of_(rows_[*after]) == key) {
      found.valid_until = start_of(rows_[*after]);
    }
    if (after != order_.begin() && key_of_(rows_[*(after - 1)]) == key) {
      found.row = *(after - 1);
    }
    return found;
  }

 private:
  static std::uint64_t start_of(const Row& row) {
    return row.start_ns == kUnknownTime ? 0 : row.start_ns;
  }
  [[nodiscard]] auto place(std::uint32_t row) const {
    return std::tuple(key_of_(rows_[row]), start_of(rows_[row]));
  }

  std::span<const Row> rows_;
  KeyOf key_of_;
  std::vector<std::uint32_t> order_;
};

struct ProcessKey {
  std::uint32_t operator()(const Process& process) const { return process.pid; }
};
struct ThreadKey {
  std::tuple<std::uint32_t, std::uint32_t> operator()(const Thread& thread) const {
    return {thread.pid, thread.tid};
  }
};

/// By pid, and by pid and tid.
using ProcessLives = LifeIndex<Process, ProcessKey>;
using ThreadLives = LifeIndex<Thread, ThreadKey>;

}  // namespace stackpack::capture
