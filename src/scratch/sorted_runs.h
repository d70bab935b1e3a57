#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/merge_heap.h"
#include "io/spill_file.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Sorted rows that do not fit in memory: runs in a nameless scratch file, merged in the end.
///
/// Rows are written as they are in memory: the process that wrote them reads them.
/// Memory: `merge_bytes` for the buffers of all runs while they are merged, but at least kLeastRows
/// rows each. Threads: one at a time.
template <typename Row>
class SortedRuns {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  SortedRuns(std::string scratch_directory, std::uint64_t merge_bytes)
      : scratch_(std::move(scratch_directory)), merge_bytes_(merge_bytes) {}

  [[nodiscard]] bool empty() const { return runs_.empty(); }

  /// Rows in all runs, those with equal keys counted apart.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

  /// Adds a run, which is in order. Errors: kIo.
  Status add(std::span<const Row> sorted) {
    const Result<std::uint64_t> offset = scratch_.append(std::as_bytes(sorted));
    if (!offset) {
      return offset.error();
    }
    runs_.push_back({*offset, sorted.size()});
    rows_ += sorted.size();
    return {};
  }

  /// Visits the rows of all runs in order: `before(a, b)`: whether a comes before b; of rows
  /// neither of which comes before the other, `add(sum, row)` makes one. The
  /// runs stay, and may be visited again.
  /// Errors: kIo, and whatever `visit(const Row&)` returns.
  template <typename Before, typename Add, typename Visit>
  Status merge(const Before& before, const Add& add, const Visit& visit) {
    if (runs_.empty()) {
      return {};
    }
    const std::size_t block_rows = std::clamp(
        static_cast<std::size_t>(merge_bytes_ / sizeof(Row) / runs_.size()), kLeastRows, kMostRows);
    const auto earlier = [&](const RunReader& a, const RunReader& b) {
      return before(a.current(), b.current());
    };
    core::MergeHeap<RunReader, decltype(earlier)> open(earlier);
    for (const Run& run : runs_) {
      RunReader reader(scratch_, run, block_rows);
      const Result<bool> more = reader.advance();
      if (!more) {
        return more.error();
      }
      if (*more) {
        open.push(std::move(reader));
      }
    }
    bool begun = false;
    Row sum{};
    while (!open.empty()) {
      RunReader first = open.pop();
      const Row& row = first.current();
      if (begun && !before(sum, row)) {
        add(sum, row);
      } else {
        if (begun) {
          if (const Status visited = visit(std::as_const(sum)); !visited) {
            return visited;
          }
        }
        sum = row;
        begun = true;
      }
      const Result<bool> more = first.advance();
      if (!more) {
        return more.error();
      }
      if (*more) {
        open.push(std::move(first));
      }
    }
    return begun ? visit(std::as_const(sum)) : Status{};
  }

 private:
  static constexpr std::size_t kLeastRows = 64;
  static constexpr std::size_t kMostRows = 4096;

  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t rows = 0;
  };

  class RunReader {
   public:
    RunReader() = default;
    RunReader(const io::SpillFile& scratch, const Run& run, std::size_t block_rows)
        : scratch_(&scratch), run_(run), block_rows_(block_rows) {}

    /// False at the end.
    Result<bool> advance() {
      if (++at_ < rows_.size()) {
        return true;
      }
      if (run_.rows == 0) {
        return false;
      }
      rows_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block_rows_, run_.rows)));
      at_ = 0;
      const auto bytes = std::as_writable_bytes(std::span(rows_));
      if (const Status read = scratch_->read_at(run_.offset, bytes); !read) {
        return read.error();
      }
      run_.offset += bytes.size();
      run_.rows -= rows_.size();
      return true;
    }

    [[nodiscard]] const Row& current() const { return rows_[at_]; }

   private:
    const io::SpillFile* scratch_ = nullptr;
    Run run_;  // what is left of it
    std::size_t block_rows_ = 0;
    std::vector<Row> rows_;
    std::size_t at_ = 0;
  };

  io::SpillFile scratch_;
  std::uint64_t merge_bytes_;
  std::vector<Run> runs_;
  std::uint64_t rows_ = 0;
};

}  // namespace stackpack::scratch
