// Sums up the branch stacks of samples while a capture is read.
//
// Law: an entry costs a few compares in one line of the cache. A branch nearly determines the one
// before it, so each row remembers which row came next in a stack, which range lies between, and
// how often that was so since it was last another one; stacks that come again as a whole are
// counted alone (BranchStackMemo). Rows are by process and address; what image an address belongs
// to is known at the end, when all mappings are. As a mapping changes what an address means, rows
// of a process from before it and after it are apart (begin_epoch), and are looked up each at its
// own time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/branch_stack_memo.h"
#include "capture/keyed_sums.h"
#include "capture/loss_counters.h"
#include "capture/recorder_losses.h"
#include "capture/system_tables.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// A branch of a stack, in parts.
struct BranchEntry {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t cycles = 0;
  BranchType type = BranchType::kUnknown;
  bool mispredicted = false;
  bool wrong_path = false;
};
inline BranchEntry branch_entry(const StackedBranch& branch) {
  constexpr auto kExtended = static_cast<std::uint64_t>(BranchType::kExtended);
  BranchEntry entry;
  entry.from = branch.from;
  entry.to = branch.to;
  entry.cycles =
      static_cast<std::uint32_t>((branch.flags & kBranchCyclesMask) >> kBranchCyclesShift);
  std::uint64_t type = branch.flags >> 20U & 0xFU;
  type += type == kExtended ? 16 * (branch.flags >> 26U & 0xFU) : 0;
  entry.type = static_cast<BranchType>(type);
  entry.mispredicted = (branch.flags & 1U) != 0;
  entry.wrong_path = (branch.flags >> 24U & 3U) == 1;
  return entry;
}

/// Memory: `bytes` for rows, taken as they come; more goes to a scratch file. None without a
/// branch. Threads: one.
class BranchRecorder {
 public:
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{16} << 20;

  void configure(const std::string& scratch_directory, std::uint64_t bytes);

  /// Mappings of the process change: an address may mean something else from now on.
  void begin_epoch(std::uint32_t pid) { ++epochs_[pid % kEpochs]; }

  /// The branch stack of a sample, newest first. Errors: kIo, of the scratch file.
  struct Sample {
    std::uint32_t event = 0;
    std::uint32_t pid = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t offset = kNoOffset;  ///< of its record in the capture
  };
  Status add(const Sample& sample, std::span<const StackedBranch> stack);

  [[nodiscard]] bool empty() const { return edges_.empty() && edge_sums_.empty(); }

  /// All edges in their order, then all ranges, located by the tables. Once. Counts in `losses`
  /// what has no range or image. Errors: kIo, and what a visitor returns.
  Status finish(const SystemTables& tables, LossCounters& losses,
                const std::function<Status(const BranchEdge&)>& visit_edge,
                const std::function<Status(const BranchRange&)>& visit_range);

 private:
  static constexpr std::size_t kEpochs = 4096;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A process in an epoch, and the event of a sample with what tells branches apart.
  struct Place {
    std::uint64_t space = 0;  // pid, epoch
    std::uint64_t kind = 0;   // event, type, wrong path
  };

  /// Of each edge and range, so far.
  struct Edge {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    Place place;
    std::uint64_t time_ns = 0;  // of the latest sample
    std::uint64_t first_offset = kNoOffset;
    std::uint64_t count = 0;
    std::uint64_t mispredicted = 0;
    std::uint64_t cycles = 0;
    std::uint64_t head_duplicates = 0;
  };

  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Place place;
    std::uint64_t time_ns = 0;
    std::uint64_t first_offset = kNoOffset;
    std::uint64_t count = 0;
    std::uint64_t head_duplicates = 0;
    std::uint64_t wrong_path = 0;
  };

  /// The same while stacks come: places by number, counts in few bits, and what comes next.
  struct alignas(64) HotEdge {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t older_time_ns = 0;  // of what follows
    std::uint64_t cycles = 0;
    std::uint32_t place = 0;  // of places_
    std::uint32_t count = 0;
    std::uint32_t mispredicted = 0;
    std::uint32_t older = kNone;    // the edge that came next in a stack,
    std::uint32_t range = kNone;    // the range between, and
    std::uint32_t older_count = 0;  // how often, as far as it was not added to the range
  };
  struct EdgeRest {  // by edge: what is seldom looked at
    std::uint64_t first_offset = kNoOffset;
    std::uint32_t head_duplicates = 0;
  };
  struct HotRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t first_offset = kNoOffset;
    std::uint32_t place = 0;
    std::uint32_t count = 0;
    std::uint32_t head_duplicates = 0;
    std::uint32_t wrong_path = 0;
  };
  /// How rows are ordered and added up before their images are known.
  struct RawOrder {
    static bool before(const Edge& a, const Edge& b);
    static bool before(const Range& a, const Range& b);
    static void join(Edge& sum, const Edge& row);
    static void join(Range& sum, const Range& row);
  };

  /// Of a branch that will be added up.
  struct Ahead {
    std::uint64_t hash = 0;
    std::uint32_t place = 0;
    std::uint32_t cycles = 0;
    std::uint32_t guess = kNone;  // the edge, if it is where its hash says
  };

  /// What has no range, or no image, and where first.
  struct LeftOut {
    struct Tally {
      std::uint64_t count = 0;
      std::uint64_t first_offset = kNoOffset;

      template <typename Row>
      void add(const Row& row) {
        count += row.count;
        first_offset = row.first_offset < first_offset ? row.first_offset : first_offset;
      }
    };
    Tally backward;
    Tally across_images;
    Tally without_image;
    Tally ends;
  };

  class Locator;

  [[nodiscard]] std::uint64_t space_of(std::uint32_t pid) const {
    return std::uint64_t{pid} << 32U | epochs_[pid % kEpochs];
  }
  Status add_up(const BranchStackMemo::Counted& counted);
  std::uint32_t place_of(std::uint64_t space, std::uint64_t kind);
  // A new row is first met in the record at `offset`.
  std::uint32_t edge_of(const StackedBranch& branch, const Ahead& ahead, std::uint64_t offset);
  std::uint32_t range_of(std::uint64_t begin, std::uint64_t end, std::uint32_t place,
                         std::uint64_t offset);
  void look_ahead(const BranchStackMemo::Counted& counted);
  void settle(HotEdge& newer);
  Status spill();
  static BranchEdge located(const Edge& edge, const Locator& locator);
  static std::optional<BranchRange> located(const Range& range, const Locator& locator,
                                            LeftOut& left_out);

  std::array<std::uint32_t, kEpochs> epochs_{};
  std::string scratch_directory_ = ".";
  std::size_t most_rows_ = 4096;
  BranchStackMemo memo_;
  std::vector<HotEdge> edges_;
  std::vector<EdgeRest> edge_rests_;
  std::vector<HotRange> ranges_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> edge_slots_;  // 1 + a row, by hash; 0: free
  std::vector<std::uint32_t> range_slots_;
  std::vector<std::uint32_t> place_slots_;
  std::array<std::uint32_t, 64> near_places_{};  // 1 + a row, by the low bits of its kind; 0: none
  std::vector<Ahead> ahead_;                     // of the stack that is added up
  std::uint64_t counted_ = 0;                    // in rows, at most
  KeyedSums<Edge, RawOrder> edge_sums_;
  KeyedSums<Range, RawOrder> range_sums_;
};

}  // namespace stackpack::capture
