#include "capture/branch_recorder.h"

#include <algorithm>
#include <bit>
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

void BranchRecorder::configure(const std::string& scratch_directory, std::uint64_t bytes) {
  scratch_directory_ = scratch_directory;
  constexpr std::size_t kSlots = 4 * sizeof(std::uint32_t);
  most_rows_ = std::max(kLeastBranchRows, static_cast<std::size_t>(bytes / 2) /
                                              (sizeof(Edge) + sizeof(Range) + 2 * kSlots));
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

std::uint32_t BranchRecorder::edge_of(const BranchEntry& entry, const Place& place,
                                      std::uint64_t offset, std::uint32_t guess) {
  const auto same = [&](const Edge& row) {
    return row.from == entry.from && row.to == entry.to && row.place.kind == place.kind &&
           row.place.space == place.space;
  };
  if (guess != kNone && same(edges_[guess])) [[likely]] {
    return guess;
  }
  return find_or_add(
      edges_, edge_slots_, hash_of(entry.from, entry.to, place.space, place.kind), same,
      [](const Edge& row) { return hash_of(row.from, row.to, row.place.space, row.place.kind); },
      [&] {
        Edge row;
        row.from = entry.from;
        row.to = entry.to;
        row.place = place;
        row.first_offset = offset;
        return row;
      });
}

std::uint32_t BranchRecorder::range_of(std::uint64_t begin, std::uint64_t end, const Place& place,
                                       std::uint64_t offset) {
  return find_or_add(
      ranges_, range_slots_, hash_of(begin, end, place.space, place.kind),
      [&](const Range& row) {
        return row.begin == begin && row.end == end && row.place.kind == place.kind &&
               row.place.space == place.space;
      },
      [](const Range& row) { return hash_of(row.begin, row.end, row.place.space, row.place.kind); },
      [&] {
        Range row;
        row.begin = begin;
        row.end = end;
        row.place = place;
        row.first_offset = offset;
        return row;
      });
}

// What was summed up goes to the sums of all, which may go to disk.
Status BranchRecorder::spill() {
  for (const Edge& row : edges_) {
    if (const Status added = edge_sums_.add(row); !added) {
      return added;
    }
  }
  for (const Range& row : ranges_) {
    if (const Status added = range_sums_.add(row); !added) {
      return added;
    }
  }
  edges_.clear();
  ranges_.clear();
  std::fill(edge_slots_.begin(), edge_slots_.end(), 0);
  std::fill(range_slots_.begin(), range_slots_.end(), 0);
  return {};
}

Status BranchRecorder::add(const Sample& sample, std::span<const BranchEntry> stack) {
  if (std::max(edges_.size(), ranges_.size()) + stack.size() > most_rows_) {
    if (const Status spilled = spill(); !spilled) {
      return spilled;
    }
  }
  const std::uint64_t event = std::uint64_t{sample.event} << 32U;
  const std::uint64_t user = space_of(sample.pid);
  const std::uint64_t kernel = space_of(kKernelPid);
  const auto space_between = [&](std::uint64_t a, std::uint64_t b) {
    return is_kernel_address(a & b) ? kernel : user;
  };
  std::uint32_t newer = kNone;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const BranchEntry& entry = stack[i];
    const Place place{
        space_between(entry.from, entry.to),
        event | static_cast<unsigned>(entry.type) << 1U | (entry.wrong_path ? 1U : 0U)};
    const std::uint32_t at = edge_of(entry, place, sample.offset,
                                     newer != kNone ? edges_[newer].older : std::uint32_t{kNone});
    Edge& edge = edges_[at];
    edge.time_ns = std::max(edge.time_ns, sample.time_ns);
    ++edge.count;
    edge.mispredicted += entry.mispredicted ? 1U : 0U;
    edge.cycles += entry.cycles;
    if (newer != kNone) {
      Edge& next = edges_[newer];
      if (next.older != at) {
        next.older = at;
        next.range = range_of(entry.to, next.from, {space_between(entry.to, next.from), event},
                              sample.offset);
      }
      Range& range = ranges_[next.range];
      range.time_ns = std::max(range.time_ns, sample.time_ns);
      ++range.count;
      range.wrong_path += entry.wrong_path || stack[i - 1].wrong_path ? 1U : 0U;
      if (i == 1 && entry.from == next.from && entry.to == next.to) {
        ++range.head_duplicates;
        ++next.head_duplicates;
      }
    }
    newer = at;
  }
  return {};
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
  if (const Status spilled = spill(); !spilled) {
    return spilled;
  }
  std::vector<Edge>().swap(edges_);
  std::vector<Range>().swap(ranges_);
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
