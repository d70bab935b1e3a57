// What a thread really waited for: the way back in time along those who woke it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/listing/wait_filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// Why a path does not go on at the waker of a block.
enum class PathEnd : std::uint8_t {
  kNone,         ///< not a block
  kNoWaker,      ///< who ended it is not recorded, or only by a hint
  kInterrupt,    ///< a timer or device
  kNoIntervals,  ///< nothing is recorded of the waker
  kCircle,       ///< the waker waits for the thread itself, as damaged captures have it
  kTooDeep,      ///< kMostWakers stand one for the other already
};

/// A piece of time, and the thread that all waited for then.
struct PathStep {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  /// The interval it is a part of; where nothing is recorded, unknown with the thread alone.
  WaitInterval row;
  PathEnd end = PathEnd::kNone;
  std::uint32_t depth = 0;        ///< wakers between the thread of the path and this one
  StackId woke_stack = kNoStack;  ///< of a run: where it woke the next thread of the path
};

struct WaitPath {
  std::uint32_t pid = kUnknownId;  ///< of the thread, when its last interval began
  std::uint32_t tid = kUnknownId;
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::vector<PathStep> steps;  ///< by time; one begins where the one before it ends
};

/// Most wakers that stand one for the other.
inline constexpr std::uint32_t kMostWakers = 64;

/// Intervals by thread, to walk in.
class PathFinder {
 public:
  /// `reasons`: of the intervals. `source_firsts`: of a merged file the first process number of
  /// each source, ascending; only threads of one source wake each other.
  PathFinder(std::span<const std::string> reasons, std::vector<std::uint64_t> source_firsts)
      : reasons_(reasons), source_firsts_(std::move(source_firsts)) {}

  void add(const WaitInterval& row) { rows_.push_back(row); }

  /// Call it once, after all rows. A block is replaced by what its waker did during it, and so on;
  /// before the block the thread itself comes again. Before the birth of a waker its creator stands
  /// for it. The range ends where the thread's intervals do.
  /// Time: that of sorting, then linear in steps and kMostWakers.
  /// Errors: kUsage: no interval of the thread in the range, or threads of several sources.
  Result<WaitPath> walk(std::uint32_t tid, std::optional<std::uint32_t> pid,
                        const WaitRange& range);

 private:
  struct Lane {
    std::uint32_t source = 0;
    std::uint32_t tid = 0;
    std::size_t begin = 0;  // in rows_
    std::size_t end = 0;
  };
  struct Visit {
    const Lane* lane = nullptr;
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
    std::size_t next = 0;  // the rows before it are to be visited
    StackId woke_stack = kNoStack;
  };

  [[nodiscard]] std::uint32_t source_of(std::uint32_t pid) const;
  void make_lanes();
  [[nodiscard]] const Lane* lane_of(std::uint32_t source, std::uint32_t tid) const;
  [[nodiscard]] bool is_visited(const Lane* lane) const;
  [[nodiscard]] Result<const Lane*> lane_of_path(std::uint32_t tid,
                                                 std::optional<std::uint32_t> pid) const;
  [[nodiscard]] bool is_birth(const WaitInterval& row) const;
  void visit(const Lane& lane, std::uint64_t from_ns, std::uint64_t to_ns, StackId woke_stack);
  void go_back();
  PathEnd follow(const WaitInterval& row, std::uint64_t from_ns, std::uint64_t to_ns);
  void give(const WaitInterval& row, std::uint64_t from_ns, PathEnd end);

  std::span<const std::string> reasons_;
  std::vector<std::uint64_t> source_firsts_;
  std::vector<WaitInterval> rows_;
  std::vector<Lane> lanes_;
  std::vector<Visit> visits_;    // the innermost last
  std::vector<PathStep> steps_;  // the latest first
};

/// The path of the thread that the filter names by `tid`, and by `pid` where several have it.
/// Memory: 48 bytes an interval of the range. Errors: those of wait_range and PathFinder::walk,
/// kIo, kCorrupt.
Result<WaitPath> find_wait_path(const Reader& reader, const WaitFilter& filter,
                                const WaitTables& tables);

}  // namespace stackpack::app
