#include "capture/branch_recorder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "capture/branch_order.h"
#include "capture/module_map.h"
#include "stackpack/model.h"

namespace stackpack::capture {

namespace {

constexpr std::size_t kLeastBranchRows = 4096;  // more than a sample has entries

constexpr bool is_kernel_address(std::uint64_t address) {
  return address >> 63U != 0;
}

// Between two addresses: that of the kernel where both are of it.
std::uint64_t space_between(const BranchStackMemo::Key& key, std::uint64_t a, std::uint64_t b) {
  return is_kernel_address(a & b) ? key.kernel : key.user;
}

// Table slots for rows with these four words as key.
std::uint64_t hash_of(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = (a ^ std::rotl(b, 29)) * kMultiplier;
  hash = (hash ^ (hash >> 32U) ^ c ^ std::rotl(d, 17)) * kMultiplier;
  return hash ^ (hash >> 29U);
}

// The row with a key, by a table of slots. `same(row)` compares, `hash(row)` serves to grow,
// `make()` gives a new row.
template <typename Row, typename Same, typename Hash, typename Make>
std::uint32_t find_or_add(std::vector<Row>& rows, std::vector<std::uint32_t>& slots,
                          std::uint64_t wanted, Same same, Hash hash, Make make) {
  if (2 * (rows.size() + 1) > slots.size()) {
    slots.assign(std::max<std::size_t>(1024, 2 * slots.size()), 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::size_t at = hash(rows[i]) & (slots.size() - 1);
      while (slots[at] != 0) {
        at = (at + 1) & (slots.size() - 1);
      }
      slots[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  std::size_t at = wanted & (slots.size() - 1);
  for (; slots[at] != 0; at = (at + 1) & (slots.size() - 1)) {
    if (same(rows[slots[at] - 1])) {
      return slots[at] - 1;
    }
  }
  rows.push_back(make());
  slots[at] = static_cast<std::uint32_t>(rows.size());
  return slots[at] - 1;
}

constexpr std::uint64_t kMispredicted = 1;
constexpr std::uint64_t kMostCounted = std::numeric_limits<std::uint32_t>::max();

template <typename Row>
auto words_of(const Row& row) {
  return std::tuple(row.place.kind, row.place.space);
}

}  // namespace

/// Finds the images of addresses.
class BranchRecorder::Locator {
 public:
  explicit Locator(const SystemTables& tables)
      : map_(tables.processes, tables.modules), images_(tables.modules.size()) {
    std::unordered_map<std::string, std::uint32_t> firsts;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Module& module = tables.modules[i];
      std::string identity(module.build_id.begin(), module.build_id.end());
      identity += module.build_id.empty() ? 'p' : 'b';
      identity += module.build_id.empty() ? module.path : std::string();
      images_[i] =
          firsts.try_emplace(std::move(identity), static_cast<std::uint32_t>(i)).first->second;
    }
  }

  struct End {
    std::uint32_t image = kNoImage;
    std::uint64_t offset = 0;
  };
  [[nodiscard]] End find(std::uint64_t space, std::uint64_t time_ns, std::uint64_t address) const {
    const FrameMode mode = is_kernel_address(address) ? FrameMode::kKernel : FrameMode::kUser;
    const auto pid = static_cast<std::uint32_t>(space >> 32U);
    const auto hit = map_.find(pid, time_ns, Frame{mode, address});
    return hit ? End{images_[hit->module], hit->offset} : End{kNoImage, address};
  }

 private:
  ModuleMap map_;
  std::vector<std::uint32_t> images_;  // by row of modules, the row that stands for its image
};

// Half of the memory for rows and the stacks that come again, half for sums.
void BranchRecorder::configure(const std::string& scratch_directory, std::uint64_t bytes) {
  scratch_directory_ = scratch_directory;
  constexpr std::size_t kSlots = 4 * sizeof(std::uint32_t);
  memo_.configure(bytes / 8);
  most_rows_ = std::max(kLeastBranchRows,
                        static_cast<std::size_t>(bytes / 8 * 3) /
                            (sizeof(HotEdge) + sizeof(EdgeRest) + sizeof(HotRange) + 2 * kSlots));
  edge_sums_ = KeyedSums<Edge, RawOrder>(scratch_directory, bytes / 4);
  range_sums_ = KeyedSums<Range, RawOrder>(scratch_directory, bytes / 4);
}

bool BranchRecorder::RawOrder::before(const Edge& a, const Edge& b) {
  return std::tuple(a.from, a.to, words_of(a)) < std::tuple(b.from, b.to, words_of(b));
}

bool BranchRecorder::RawOrder::before(const Range& a, const Range& b) {
  return std::tuple(a.begin, a.end, words_of(a)) < std::tuple(b.begin, b.end, words_of(b));
}

void BranchRecorder::RawOrder::join(Edge& sum, const Edge& row) {
  sum.time_ns = std::max(sum.time_ns, row.time_ns);
  sum.first_offset = std::min(sum.first_offset, row.first_offset);
  sum.count += row.count;
  sum.mispredicted += row.mispredicted;
  sum.cycles += row.cycles;
  sum.head_duplicates += row.head_duplicates;
}

void BranchRecorder::RawOrder::join(Range& sum, const Range& row) {
  sum.time_ns = std::max(sum.time_ns, row.time_ns);
  sum.first_offset = std::min(sum.first_offset, row.first_offset);
  sum.count += row.count;
  sum.head_duplicates += row.head_duplicates;
  sum.wrong_path += row.wrong_path;
}

// The number of a place. Stacks have few kinds of branches, so the last ones are looked at first.
inline std::uint32_t BranchRecorder::place_of(std::uint64_t space, std::uint64_t kind) {
  std::uint32_t& near = near_places_[(kind ^ space >> 58U) % near_places_.size()];
  if (near != 0 && places_[near - 1].kind == kind && places_[near - 1].space == space) [[likely]] {
    return near - 1;
  }
  near = 1 + find_or_add(
                 places_, place_slots_, hash_of(space, kind, 0, 0),
                 [&](const Place& place) { return place.kind == kind && place.space == space; },
                 [](const Place& place) { return hash_of(place.space, place.kind, 0, 0); },
                 [&] {
                   return Place{space, kind};
                 });
  return near - 1;
}

std::uint32_t BranchRecorder::edge_of(const StackedBranch& branch, const Ahead& ahead,
                                      std::uint64_t offset) {
  const auto same = [&](const HotEdge& row) {
    return row.from == branch.from && row.to == branch.to && row.place == ahead.place;
  };
  if (ahead.guess != kNone && same(edges_[ahead.guess])) [[likely]] {
    return ahead.guess;
  }
  const std::uint32_t found = find_or_add(
      edges_, edge_slots_, ahead.hash, same,
      [](const HotEdge& row) { return hash_of(row.from, row.to, row.place, 0); },
      [&] {
        HotEdge row;
        row.from = branch.from;
        row.to = branch.to;
        row.place = ahead.place;
        return row;
      });
  if (found == edge_rests_.size()) {
    edge_rests_.emplace_back();
  }
  std::uint64_t& first = edge_rests_[found].first_offset;
  first = std::min(first, offset);
  return found;
}

std::uint32_t BranchRecorder::range_of(std::uint64_t begin, std::uint64_t end, std::uint32_t place,
                                       std::uint64_t offset) {
  const std::uint32_t found = find_or_add(
      ranges_, range_slots_, hash_of(begin, end, place, 1),
      [&](const HotRange& row) {
        return row.begin == begin && row.end == end && row.place == place;
      },
      [](const HotRange& row) { return hash_of(row.begin, row.end, row.place, 1); },
      [&] {
        HotRange row;
        row.begin = begin;
        row.end = end;
        row.place = place;
        return row;
      });
  std::uint64_t& first = ranges_[found].first_offset;
  first = std::min(first, offset);
  return found;
}

// Adds to the range between an edge and the older one what was counted at the edge.
void BranchRecorder::settle(HotEdge& newer) {
  if (newer.older_count == 0) {
    return;
  }
  HotRange& range = ranges_[newer.range];
  const std::uint64_t kinds = places_[newer.place].kind | places_[edges_[newer.older].place].kind;
  range.count += newer.older_count;
  range.wrong_path += (kinds & 1U) != 0 ? newer.older_count : 0;
  range.time_ns = std::max(range.time_ns, newer.older_time_ns);
  newer.older_count = 0;
  newer.older_time_ns = 0;
}

// What was summed up goes to the sums of all, which may go to disk.
Status BranchRecorder::spill() {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    HotEdge& row = edges_[i];
    settle(row);
    const EdgeRest& rest = edge_rests_[i];
    const Status added =
        edge_sums_.add({row.from, row.to, places_[row.place], row.time_ns, rest.first_offset,
                        row.count, row.mispredicted, row.cycles, rest.head_duplicates});
    if (!added) {
      return added;
    }
  }
  for (const HotRange& row : ranges_) {
    const Status added =
        range_sums_.add({row.begin, row.end, places_[row.place], row.time_ns, row.first_offset,
                         row.count, row.head_duplicates, row.wrong_path});
    if (!added) {
      return added;
    }
  }
  edges_.clear();
  edge_rests_.clear();
  ranges_.clear();
  places_.clear();
  for (std::vector<std::uint32_t>* slots : {&edge_slots_, &range_slots_, &place_slots_}) {
    std::fill(slots->begin(), slots->end(), 0);
  }
  near_places_.fill(0);
  counted_ = 0;
  return {};
}

Status BranchRecorder::add(const Sample& sample, std::span<const StackedBranch> stack) {
  const BranchStackMemo::Key key{sample.event, space_of(sample.pid), space_of(kKernelPid)};
  Status added;
  const bool counted =
      memo_.count(key, stack, sample.time_ns, sample.offset,
                  [&](const BranchStackMemo::Counted& others) { added = add_up(others); });
  return counted || !added ? added : add_up({key, stack, 1, sample.time_ns, sample.offset});
}

// Adds up a stack that came a number of times.
Status BranchRecorder::add_up(const BranchStackMemo::Counted& counted) {
  const std::span<const StackedBranch> stack = counted.stack;
  const std::uint32_t times = counted.times;
  const std::size_t rows = std::max({edges_.size(), ranges_.size(), places_.size() / 2});
  counted_ += std::uint64_t{times} * stack.size();
  if (rows + stack.size() > most_rows_ || counted_ > kMostCounted) {
    if (const Status spilled = spill(); !spilled) {
      return spilled;
    }
    counted_ = std::uint64_t{times} * stack.size();
  }
  look_ahead(counted);
  const std::uint64_t event = std::uint64_t{counted.key.event} << 32U;
  std::uint32_t newer = kNone;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const StackedBranch& branch = stack[i];
    const std::uint32_t at = edge_of(branch, ahead_[i], counted.offset);
    HotEdge& edge = edges_[at];
    edge.time_ns = std::max(edge.time_ns, counted.time_ns);
    edge.count += times;
    edge.mispredicted += (branch.flags & kMispredicted) != 0 ? times : 0;
    edge.cycles += std::uint64_t{ahead_[i].cycles} * times;
    if (newer != kNone) {
      HotEdge& next = edges_[newer];
      if (next.older != at) {
        settle(next);
        next.older = at;
        next.range = range_of(branch.to, next.from,
                              place_of(space_between(counted.key, branch.to, next.from), event),
                              counted.offset);
      }
      next.older_count += times;
      next.older_time_ns = std::max(next.older_time_ns, counted.time_ns);
      if (i == 1 && branch.from == next.from && branch.to == next.to) {
        ranges_[next.range].head_duplicates += times;
        edge_rests_[newer].head_duplicates += times;
      }
    }
    newer = at;
  }
  return {};
}

// Fills ahead_ for a stack, and fetches what its edges are looked up in: one after the other would
// wait for each.
void BranchRecorder::look_ahead(const BranchStackMemo::Counted& counted) {
  const std::uint64_t event = std::uint64_t{counted.key.event} << 32U;
  ahead_.resize(counted.stack.size());
  const std::size_t mask = edge_slots_.size() - 1;
  for (std::size_t i = 0; i < ahead_.size(); ++i) {
    const BranchEntry entry = branch_entry(counted.stack[i]);
    Ahead& ahead = ahead_[i];
    ahead.place =
        place_of(space_between(counted.key, entry.from, entry.to),
                 event | static_cast<unsigned>(entry.type) << 1U | (entry.wrong_path ? 1U : 0U));
    ahead.hash = hash_of(entry.from, entry.to, ahead.place, 0);
    ahead.cycles = entry.cycles;
    if (!edge_slots_.empty()) {
      __builtin_prefetch(&edge_slots_[ahead.hash & mask]);
    }
  }
  for (Ahead& ahead : ahead_) {
    ahead.guess = edge_slots_.empty() ? kNone : edge_slots_[ahead.hash & mask] - 1;
    if (ahead.guess != kNone) {
      __builtin_prefetch(&edges_[ahead.guess]);
    }
  }
}

// Where both ends of an edge are.
BranchEdge BranchRecorder::located(const Edge& edge, const Locator& locator) {
  const Locator::End from = locator.find(edge.place.space, edge.time_ns, edge.from);
  const Locator::End to = locator.find(edge.place.space, edge.time_ns, edge.to);
  BranchEdge row;
  row.event = static_cast<std::uint32_t>(edge.place.kind >> 32U);
  row.from_image = from.image;
  row.from = from.offset;
  row.to_image = to.image;
  row.to = to.offset;
  row.type = static_cast<BranchType>(edge.place.kind >> 1U & 0xFFU);
  row.wrong_path = (edge.place.kind & 1U) != 0;
  row.count = edge.count;
  row.mispredicted = edge.mispredicted;
  row.cycles = edge.cycles;
  row.head_duplicates = edge.head_duplicates;
  return row;
}

// The same for a range; none that is not one, which is counted.
std::optional<BranchRange> BranchRecorder::located(const Range& range, const Locator& locator,
                                                   LeftOut& left_out) {
  const Locator::End begin = locator.find(range.place.space, range.time_ns, range.begin);
  const Locator::End end = locator.find(range.place.space, range.time_ns, range.end);
  if (begin.image == kNoImage || end.image == kNoImage) {
    left_out.without_image.add(range);
    return std::nullopt;
  }
  if (begin.image != end.image) {
    left_out.across_images.add(range);
    return std::nullopt;
  }
  // Offsets alone go the other way where a file is mapped in parts out of order.
  if (range.begin > range.end || begin.offset > end.offset) {
    left_out.backward.add(range);
    return std::nullopt;
  }
  BranchRange row;
  row.event = static_cast<std::uint32_t>(range.place.kind >> 32U);
  row.image = begin.image;
  row.begin = begin.offset;
  row.end = end.offset;
  row.count = range.count;
  row.head_duplicates = range.head_duplicates;
  row.wrong_path = range.wrong_path;
  return row;
}

Status BranchRecorder::finish(const SystemTables& tables, LossCounters& losses,
                              const std::function<Status(const BranchEdge&)>& visit_edge,
                              const std::function<Status(const BranchRange&)>& visit_range) {
  Status spilled;
  memo_.flush([&](const BranchStackMemo::Counted& counted) {
    spilled = spilled ? add_up(counted) : spilled;
  });
  spilled = spilled ? spill() : spilled;
  if (!spilled) {
    return spilled;
  }
  edges_ = {};
  edge_rests_ = {};
  ranges_ = {};
  memo_ = {};
  const Locator locator(tables);
  LeftOut left_out;
  const std::uint64_t bytes = most_rows_ * (sizeof(Edge) + sizeof(Range));
  BranchSums<BranchEdge> edges(scratch_directory_, bytes);
  Status done = edge_sums_.finish([&](const Edge& edge) {
    const BranchEdge row = located(edge, locator);
    for (const std::uint32_t image : {row.from_image, row.to_image}) {
      if (image == kNoImage) {
        left_out.ends.add(edge);
      }
    }
    return edges.add(row);
  });
  done = done ? edges.finish(visit_edge) : done;
  if (!done) {
    return done;
  }
  BranchSums<BranchRange> ranges(scratch_directory_, bytes);
  done = range_sums_.finish([&](const Range& range) {
    const std::optional<BranchRange> row = located(range, locator, left_out);
    return row ? ranges.add(*row) : Status{};
  });
  done = done ? ranges.finish(visit_range) : done;
  for (const auto& [name, tally] : {std::pair(branch_loss::kBackward, left_out.backward),
                                    std::pair(branch_loss::kAcrossImages, left_out.across_images),
                                    std::pair(branch_loss::kWithoutImage, left_out.without_image),
                                    std::pair(branch_loss::kEndsWithoutImage, left_out.ends)}) {
    if (tally.count != 0) {
      losses.add(name, LossKind::kNotice, tally.count, tally.first_offset);
    }
  }
  return done;
}

}  // namespace stackpack::capture
