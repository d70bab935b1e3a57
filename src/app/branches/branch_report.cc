#include "app/branches/branch_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "app/branches/image_addresses.h"
#include "app/branches/loop_finder.h"
#include "capture/branch_order.h"
#include "core/sort_rows.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

struct CodePlace {
  std::uint32_t image = kNoImage;
  std::uint64_t offset = 0;

  friend bool operator<(const CodePlace& a, const CodePlace& b) {
    return std::tie(a.image, a.offset) < std::tie(b.image, b.offset);
  }
};

struct EdgeSums {
  BranchType type = BranchType::kUnknown;
  std::uint64_t taken = 0;
  std::uint64_t mispredicted = 0;
  std::uint64_t cycles = 0;
};

using EdgeTable = std::map<std::pair<CodePlace, CodePlace>, EdgeSums>;
using Edge = EdgeTable::value_type;

bool is_jump(BranchType type) {
  return type == BranchType::kConditional || type == BranchType::kUnconditional ||
         type == BranchType::kIndirect;
}

bool is_call(BranchType type) {
  return type == BranchType::kCall || type == BranchType::kIndirectCall ||
         type == BranchType::kConditionalCall;
}

class Reporter {
 public:
  Reporter(const Branches& branches, const Symbols& symbols)
      : symbols_(symbols), addresses_(symbols.modules()) {
    for (const BranchEdge& edge : branches.edges) {
      add(edge);
    }
    for (const BranchRange& range : branches.ranges) {
      const std::uint64_t runs = range.count - std::min(range.count, range.wrong_path);
      runs_[range.image].add(range.begin, range.end, runs);
    }
    for (auto& [image, runs] : runs_) {
      runs.settle();
    }
  }

  BranchReport report(BranchOrder order, std::size_t rows) && {
    add_branches(order, rows);
    add_loops(rows);
    return std::move(report_);
  }

 private:
  void add(const BranchEdge& edge) {
    if (edge.wrong_path) {
      report_.wrong_path = saturating_sum(report_.wrong_path, edge.count);
      return;
    }
    report_.taken = saturating_sum(report_.taken, edge.count);
    report_.mispredicted = saturating_sum(report_.mispredicted, edge.mispredicted);
    const CodePlace from{edge.from_image, edge.from};
    const CodePlace to{edge.to_image, edge.to};
    EdgeSums& sums = edges_[{from, to}];
    sums.type = sums.type == BranchType::kUnknown ? edge.type : sums.type;
    sums.taken = saturating_sum(sums.taken, edge.count);
    sums.mispredicted = saturating_sum(sums.mispredicted, edge.mispredicted);
    sums.cycles = saturating_sum(sums.cycles, edge.cycles);
    std::uint64_t& all = taken_from_[from];
    all = saturating_sum(all, edge.count);
  }

  // An offset in an image has a name where a mapping of the image has the offset.
  [[nodiscard]] CodeLocation locate(const CodePlace& place) const {
    const auto query =
        place.image == kNoImage ? std::nullopt : addresses_.find(place.image, place.offset);
    return query ? symbols_.locate(query->frame, query->pid, query->time_ns, query->use)
                 : CodeLocation();
  }

  [[nodiscard]] BranchPlace named(const CodePlace& place) const {
    BranchPlace named;
    named.offset = place.offset;
    if (place.image == kNoImage) {
      return named;
    }
    const CodeLocation location = locate(place);
    named.image = symbols_.modules()[place.image].path;
    named.function = location.name;
    named.linkage = location.linkage;
    named.function_offset = location.function_offset;
    named.file = location.file;
    named.line = location.line;
    return named;
  }

  [[nodiscard]] std::uint64_t not_taken(const CodePlace& place) const {
    const auto runs = runs_.find(place.image);
    return runs == runs_.end() ? 0 : runs->second.through(place.offset);
  }

  void add_branches(BranchOrder order, std::size_t rows) {
    std::vector<const Edge*> hottest;
    hottest.reserve(edges_.size());
    for (const Edge& edge : edges_) {
      hottest.push_back(&edge);
    }
    core::sort_rows(hottest, [order](const Edge* a, const Edge* b) {
      return order == BranchOrder::kTaken ? a->second.taken > b->second.taken
                                          : a->second.mispredicted > b->second.mispredicted;
    });
    report_.all_branches = hottest.size();
    hottest.resize(rows == 0 ? hottest.size() : std::min(rows, hottest.size()));
    for (const Edge* const edge : hottest) {
      ReportedBranch& row = report_.branches.emplace_back();
      const auto& [from, to] = edge->first;
      row.from = named(from);
      row.to = named(to);
      row.type = edge->second.type;
      row.taken = edge->second.taken;
      row.mispredicted = edge->second.mispredicted;
      row.cycles = edge->second.cycles;
      row.all_taken = taken_from_.at(from);
      row.not_taken = not_taken(from);
    }
  }

  // Jumps that end in each image, and whether they may be part of a loop. Where the recorder gives
  // no types, calls are known by where they go to, the first byte of a function, and returns by
  // where they come from, another function.
  [[nodiscard]] std::map<std::uint32_t, std::vector<TakenJump>> jumps() const {
    std::map<std::uint32_t, std::vector<TakenJump>> by_image;
    for (const auto& [ends, sums] : edges_) {
      const auto& [from, to] = ends;
      if (to.image == kNoImage) {
        continue;
      }
      const BranchType type = sums.type;
      const bool of_image = from.image == to.image;
      const CodeLocation source = of_image ? locate(from) : CodeLocation();
      const CodeLocation target = locate(to);
      const bool inside = of_image && source.function == target.function;
      const bool begins = target.function != nullptr && target.function_offset == 0;
      const bool jump =
          is_jump(type) || (type == BranchType::kUnknown && target.function != nullptr && !begins);
      if ((jump && inside) || is_call(type) || begins) {
        constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};
        by_image[to.image].push_back(
            {of_image ? from.offset : kElsewhere, to.offset, sums.taken, jump && inside});
      }
    }
    return by_image;
  }

  void add_loops(std::size_t rows) {
    std::vector<std::pair<std::uint32_t, FoundLoop>> loops;
    for (auto& [image, image_jumps] : jumps()) {
      for (const FoundLoop& loop : find_loops(image_jumps, runs_[image])) {
        loops.emplace_back(image, loop);
      }
    }
    core::sort_rows(loops, [](const auto& a, const auto& b) {
      return a.second.iterations > b.second.iterations;
    });
    report_.all_loops = loops.size();
    loops.resize(rows == 0 ? loops.size() : std::min(rows, loops.size()));
    for (const auto& [image, loop] : loops) {
      report_.loops.push_back({named({image, loop.head}), named({image, loop.last_branch}),
                               loop.iterations, loop.entries});
    }
  }

  const Symbols& symbols_;
  ImageAddresses addresses_;
  EdgeTable edges_;
  std::map<CodePlace, std::uint64_t> taken_from_;
  std::map<std::uint32_t, CodeRuns> runs_;
  BranchReport report_;
};

}  // namespace

Result<BranchReport> report_branches(const Reader& reader, BranchOrder order, std::size_t rows) {
  const Result<Branches> branches = reader.branches();
  if (!branches) {
    return branches.error();
  }
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  return Reporter(*branches, **symbols).report(order, rows);
}

}  // namespace stackpack::app
