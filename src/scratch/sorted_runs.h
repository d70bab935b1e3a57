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
#include "scratch/row_blocks.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Sorted rows that do not fit in memory: runs in a nameless scratch file, merged in the end.
///
/// Memory: `merge_bytes` for the buffers of all runs while they are merged, but at least two blocks
/// of RowBlocks each. Threads: one at a time.
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
    return add(sorted.size(), [sorted](std::size_t i) -> const Row& { return sorted[i]; });
  }

  /// The same of `count` rows, of which `row_at(i)` gives the i-th.
  template <typename RowAt>
  Status add(std::size_t count, const RowAt& row_at) {
    Run run{scratch_.size(), 0, count};
    std::vector<std::byte> packed;
    packed.reserve(std::min(kWriteBytes, (count / Blocks::kRows + 1) * Blocks::kMostBytes) +
                   Blocks::kMostBytes);
    for (std::size_t begin = 0; begin < count; begin += Blocks::kRows) {
      const std::size_t rows = std::min(Blocks::kRows, count - begin);
      Blocks::pack(
          rows, [&](std::size_t i) -> const Row& { return row_at(begin + i); }, packed);
      if (packed.size() >= kWriteBytes || begin + rows == count) {
        if (const Result<std::uint64_t> written = scratch_.append(packed); !written) {
          return written.error();
        }
        run.bytes += packed.size();
        packed.clear();
      }
    }
    runs_.push_back(run);
    rows_ += count;
    return {};
  }

  /// Visits the rows of all runs in order: `before(a, b)`: whether a comes before b; of rows
  /// neither of which comes before the other, `add(sum, row)` makes one. The
  /// runs stay, and may be visited again.
  /// Errors: kIo, and whatever `visit(const Row&)` returns.
  template <typename Before, typename Add, typename Visit>
  Status merge(const Before& before, const Add& add, const Visit& visit) {
    bool begun = false;
    Row sum{};
    const Status visited = merge_apart(before, [&](const Row& row) -> Status {
      if (begun && !before(sum, row)) {
        add(sum, row);
        return {};
      }
      Status given = begun ? visit(std::as_const(sum)) : Status{};
      sum = row;
      begun = true;
      return given;
    });
    return visited && begun ? visit(std::as_const(sum)) : visited;
  }

  /// The rows of all runs in order, one by one. The runs stay, and are not added to meanwhile.
  template <typename Before>
  class Walk;

  /// The same, with each row apart. Of equal ones, which is first is not said.
  template <typename Before, typename Visit>
  Status merge_apart(const Before& before, const Visit& visit) {
    std::vector<RunReader> readers;
    readers.reserve(runs_.size());
    const auto earlier = [&](std::size_t a, std::size_t b) {
      return before(readers[a].current(), readers[b].current());
    };
    core::MergeHeap<std::size_t, decltype(earlier)> open(earlier);
    for (const Run& run : runs_) {
      readers.emplace_back(scratch_, run, block_bytes());
      const Result<bool> more = readers.back().advance();
      if (!more) {
        return more.error();
      }
      if (*more) {
        open.push(readers.size() - 1);
      }
    }
    while (!open.empty()) {
      const std::size_t first = open.pop();
      const Result<bool> more =
          drain(readers[first], open.empty() ? nullptr : &readers[open.top()], before, visit);
      if (!more) {
        return more.error();
      }
      if (*more) {
        open.push(first);
      }
    }
    return {};
  }

 private:
  using Blocks = RowBlocks<Row>;
  static constexpr std::size_t kWriteBytes = std::size_t{64} << 10;
  static constexpr std::uint64_t kMostBlockBytes = std::uint64_t{256} << 10;

  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
  };

  class RunReader {
   public:
    RunReader(const io::SpillFile& scratch, const Run& run, std::size_t block_bytes)
        : scratch_(&scratch), run_(run), block_bytes_(block_bytes) {}

    /// False at the end.
    Result<bool> advance() { return ++at_ < rows_.size() ? Result<bool>(true) : unpack(); }

    [[nodiscard]] const Row& current() const { return rows_[at_]; }

   private:
    Result<bool> unpack() {
      if (run_.rows == 0) {
        return false;
      }
      if (bytes_.size() - begin_ < Blocks::kMostBytes && run_.bytes != 0) {
        if (const Status filled = fill(); !filled) {
          return filled.error();
        }
      }
      const std::byte* const block = bytes_.data() + begin_;
      const std::size_t left = bytes_.size() - begin_;
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(Blocks::kRows, run_.rows));
      if (left < Blocks::kSizeBytes || left < Blocks::size_of(block)) {
        return Error{ErrorCode::kIo, kNoOffset,
                     "temporary file does not say what was written to it"};
      }
      Blocks::unpack(block, count, rows_);
      begin_ += Blocks::size_of(block);
      run_.rows -= count;
      at_ = 0;
      return true;
    }

    Status fill() {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
      const std::size_t kept = bytes_.size();
      const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes_, run_.bytes));
      bytes_.resize(kept + more);
      const Status read = scratch_->read_at(run_.offset, std::span(bytes_).subspan(kept));
      run_.offset += more;
      run_.bytes -= more;
      return read;
    }

    const io::SpillFile* scratch_;
    Run run_;  // what is left of it
    std::size_t block_bytes_;
    std::vector<std::byte> bytes_;  // from begin_ on: not unpacked yet
    std::size_t begin_ = 0;
    std::vector<Row> rows_;
    std::size_t at_ = 0;
  };

  [[nodiscard]] std::size_t block_bytes() const {
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(merge_bytes_ / runs_.size(), Blocks::kMostBytes,
                                  std::max<std::uint64_t>(kMostBlockBytes, Blocks::kMostBytes)));
  }

  // Gives the rows of the reader as long as none of `next` comes before them. False: there is none
  // left.
  template <typename Before, typename Visit>
  static Result<bool> drain(RunReader& reader, const RunReader* next, const Before& before,
                            const Visit& visit) {
    while (true) {
      if (const Status visited = visit(reader.current()); !visited) {
        return visited.error();
      }
      const Result<bool> more = reader.advance();
      if (!more || !*more) {
        return more;
      }
      if (next != nullptr && before(next->current(), reader.current())) {
        return true;
      }
    }
  }

  io::SpillFile scratch_;
  std::uint64_t merge_bytes_;
  std::vector<Run> runs_;
  std::uint64_t rows_ = 0;
};

template <typename Row>
template <typename Before>
class SortedRuns<Row>::Walk {
 public:
  Walk(const SortedRuns& runs, Before before)
      : runs_(runs), before_(std::move(before)), open_(Earlier{this}) {}
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  ~Walk() = default;

  /// The next row, until the next call; null at the end. Errors: kIo.
  Result<const Row*> next() {
    if (readers_.empty()) {
      if (const Status begun = begin(); !begun) {
        return begun.error();
      }
    } else if (const Status moved = advance(latest_); !moved) {
      return moved.error();
    }
    const Row* const none = nullptr;
    if (open_.empty()) {
      return none;
    }
    latest_ = open_.pop();
    return &readers_[latest_].current();
  }

 private:
  struct Earlier {
    const Walk* walk;
    bool operator()(std::size_t a, std::size_t b) const {
      return walk->before_(walk->readers_[a].current(), walk->readers_[b].current());
    }
  };

  Status begin() {
    readers_.reserve(runs_.runs_.size());
    for (const Run& run : runs_.runs_) {
      readers_.emplace_back(runs_.scratch_, run, runs_.block_bytes());
      if (const Status moved = advance(readers_.size() - 1); !moved) {
        return moved;
      }
    }
    return {};
  }

  Status advance(std::size_t reader) {
    const Result<bool> more = readers_[reader].advance();
    if (more && *more) {
      open_.push(reader);
    }
    return more ? Status{} : more.error();
  }

  const SortedRuns& runs_;
  Before before_;
  std::vector<RunReader> readers_;
  core::MergeHeap<std::size_t, Earlier> open_;
  std::size_t latest_ = 0;  // whose row was given
};

}  // namespace stackpack::scratch
