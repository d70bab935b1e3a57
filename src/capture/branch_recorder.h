// Sums up the branch stacks of samples while a capture is read.
//
// Law: an entry costs a few compares. A branch nearly determines the one before it, so each row
// remembers which row came next in a stack, and which range lies between. Rows are by process and
// address; what image an address belongs to is known at the end, when all mappings are. As a
// mapping changes what an address means, rows of a process from before it and after it are apart
// (begin_epoch), and are looked up each at its own time.
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

#include "capture/branch_losses.h"
#include "capture/keyed_sums.h"
#include "capture/loss_counters.h"
#include "capture/system_tables.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// An entry of a branch stack.
struct BranchEntry {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t cycles = 0;
  BranchType type = BranchType::kUnknown;
  bool mispredicted = false;
  bool wrong_path = false;
};

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
  Status add(const Sample& sample, std::span<const BranchEntry> stack);

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
    std::uint32_t older = kNone;  // the edge that came next in a stack,
    std::uint32_t range = kNone;  // and the range between
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

  /// How rows are ordered and added up before their images are known.
  struct RawOrder {
    static bool before(const Edge& a, const Edge& b);
    static bool before(const Range& a, const Range& b);
    static void join(Edge& sum, const Edge& row);
    static void join(Range& sum, const Range& row);
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
  // A new row is first met in the record at `offset`.
  std::uint32_t edge_of(const BranchEntry& entry, const Place& place, std::uint64_t offset,
                        std::uint32_t guess);
  std::uint32_t range_of(std::uint64_t begin, std::uint64_t end, const Place& place,
                         std::uint64_t offset);
  Status spill();
  static BranchEdge located(const Edge& edge, const Locator& locator);
  static std::optional<BranchRange> located(const Range& range, const Locator& locator,
                                            LeftOut& left_out);

  std::array<std::uint32_t, kEpochs> epochs_{};
  std::string scratch_directory_ = ".";
  std::size_t most_rows_ = 4096;
  std::vector<Edge> edges_;
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> edge_slots_;  // 1 + a row, by hash; 0: free
  std::vector<std::uint32_t> range_slots_;
  KeyedSums<Edge, RawOrder> edge_sums_;
  KeyedSums<Range, RawOrder> range_sums_;
};

}  // namespace stackpack::capture
