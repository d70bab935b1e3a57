#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/number_table.h"
#include "export/html/page_content.h"
#include "export/html/page_tree.h"
#include "export/job/export_job.h"
#include "query/naming/stack_resolver.h"
#include "query/selection/idle_pools.h"
#include "query/selection/waker_threads.h"
#include "stackpack/reader.h"
#include "stackpack/waits.h"

namespace stackpack::exporting {

// The clock of a page's intervals.

/// Chooses the finest tick with which the lengths of intervals fit a page: times are most of what
/// intervals take.
class LaneTicks {
 public:
  /// The bits that all lengths may take together.
  static constexpr std::uint64_t kMostBits = std::uint64_t{10} << 20;

  void add(std::uint64_t length_ns);
  /// `span_ns`: of the recording, which has less than 2^31 ticks. 1, 2 or 5 times a power of ten.
  [[nodiscard]] std::uint64_t choose(std::uint64_t span_ns) const;

 private:
  [[nodiscard]] double bits_at(std::uint64_t tick_ns) const;

  std::array<std::uint64_t, 65> lengths_{};  // by how many bits they have
};

/// The number of a time in ticks, to the nearest one.
constexpr std::uint64_t ticks_of(std::uint64_t ns, std::uint64_t tick_ns) {
  return ns / tick_ns + (ns % tick_ns >= tick_ns - tick_ns / 2 ? 1 : 0);
}

/// Numbers of keys, those that occur most often first.
class RankedKeys {
 public:
  void count(std::uint64_t key);
  void rank();
  /// Of a key that was counted.
  [[nodiscard]] std::uint32_t rank_of(std::uint64_t key);
  /// By rank.
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const { return keys_; }

 private:
  core::NumberTable<std::uint64_t> numbers_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint64_t> keys_;
};

/// Reads the intervals of a file for its page: those that the filters by process, thread and time
/// let through and that end in the time.
///
/// Memory: a row a thread and a distinct callstack, reason and waker; some 4 bytes an interval.
class LaneReading {
 public:
  explicit LaneReading(ExportJob& job);

  /// The first pass: what there is, and where callstacks end. Before the nodes of the tree are
  /// joined. Errors: those of the reader and of the resolver.
  Status survey(query::StackResolver& resolver);
  /// The second one, once the content has its tree and threads. Nothing without intervals.
  Status add_to(const PageTree& tree, PageContent& content);

 private:
  using TakeRow = std::function<void(const WaitInterval&, std::uint32_t)>;
  // What the rows of a lane are told by.
  struct LaneState {
    std::uint64_t end_ns = 0;
    std::uint64_t end_tick = 0;
    std::uint64_t spot = 0;
    std::uint64_t waker = 0;
  };

  [[nodiscard]] bool is_wanted() const;
  [[nodiscard]] bool has_measures(const PageContent& content) const;
  Status each_row(const std::function<void(const WaitInterval&)>& see, const TakeRow& take);
  Status resolve(query::StackResolver& resolver);
  std::uint32_t stack_of(StackId stack, std::uint32_t context);
  std::uint64_t spot_of(const WaitInterval& row, std::uint32_t context);
  std::uint64_t waker_of(const WaitInterval& row);
  void note(const WaitInterval& row, std::uint32_t context);
  void encode(const WaitInterval& row, std::uint32_t context);
  void put_interval(std::uint8_t code, std::uint64_t to_ns);
  void put_length(WaitState state, std::uint64_t ticks);
  void put_bits(std::uint64_t bits, unsigned count);
  void begin_lane(const WaitInterval& row);
  void finish_tables(const PageTree& tree, PageContent& content);
  void add_measures(const PageTree& tree, PageContent& content);

  ExportJob& job_;
  query::WakerThreads threads_;
  query::IdlePools pools_;
  LaneTicks ticks_;
  std::uint64_t rows_ = 0;
  std::uint64_t first_ns_ = ~std::uint64_t{0};
  std::uint64_t last_ns_ = 0;
  core::NumberTable<std::uint64_t> stacks_;  // context, callstack
  core::NumberTable<std::uint64_t> who_;     // pid and tid of wakers
  RankedKeys spots_;
  RankedKeys wakers_;
  std::vector<std::uint32_t> resolved_;  // by row of stacks_
  // Time by state and callstack; the last one is for waits without a callstack.
  std::array<std::vector<std::uint64_t>, 3> sums_;
  PageLanes lanes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lane_of_thread_;
  LaneState state_;
  std::uint64_t open_bits_ = 0;
  unsigned open_count_ = 0;
};

}  // namespace stackpack::exporting
