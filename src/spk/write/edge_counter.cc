#include "spk/write/edge_counter.h"

#include <algorithm>
#include <utility>

namespace stackpack::spk {

namespace {

constexpr std::size_t kFirstSlots = 1'024;
constexpr std::uint64_t kLeastEdges = 512;

std::uint64_t key_of(std::uint32_t row, std::uint32_t child) {
  return (std::uint64_t{row} + 1) << 32 | child;
}

bool before(const CountedEdge& a, const CountedEdge& b) {
  return a.row != b.row ? a.row < b.row : a.child < b.child;
}

}  // namespace

EdgeCounter::EdgeCounter(std::string scratch_directory, std::uint64_t memory_bytes)
    : slots_(kFirstSlots),
      most_used_(memory_bytes == 0 ? ~std::uint64_t{0}
                                   : std::max(kLeastEdges, memory_bytes / kBytesPerEdge)),
      runs_(std::move(scratch_directory), memory_bytes / 2) {}

std::size_t EdgeCounter::slot_of(std::uint64_t key) const {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::size_t slot = ((key * kMultiplier) >> 20) & (slots_.size() - 1);
  while (slots_[slot].key != 0 && slots_[slot].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

// After an edge more: spills what there is, or doubles the slots.
Status EdgeCounter::make_room() {
  if (used_ >= most_used_) {
    return runs_.add(take_sorted());
  }
  if (used_ > slots_.size() / 4 * 3) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != 0) {
        slots_[slot_of(slot.key)] = slot;
      }
    }
  }
  return {};
}

Status EdgeCounter::add(std::uint32_t row, std::uint32_t child, bool first) {
  const std::uint64_t key = key_of(row, child);
  Slot& slot = slots_[slot_of(key)];
  slot.count += first ? 1 : 0;
  if (slot.key != 0) {
    return {};
  }
  slot.key = key;
  ++used_;
  return make_room();
}

std::vector<CountedEdge> EdgeCounter::take_sorted() {
  std::vector<CountedEdge> edges;
  edges.reserve(used_);
  for (const Slot& slot : slots_) {
    if (slot.key != 0) {
      edges.push_back({static_cast<std::uint32_t>((slot.key >> 32) - 1),
                       static_cast<std::uint32_t>(slot.key), slot.count});
    }
  }
  slots_.assign(kFirstSlots, {});
  slots_.shrink_to_fit();
  used_ = 0;
  std::sort(edges.begin(), edges.end(), before);
  return edges;
}

Status EdgeCounter::for_each(const std::function<Status(const CountedEdge&)>& visit) {
  if (runs_.empty()) {
    for (const CountedEdge& edge : take_sorted()) {
      if (const Status visited = visit(edge); !visited) {
        return visited;
      }
    }
    return {};
  }
  if (const Status added = runs_.add(take_sorted()); !added) {
    return added;
  }
  const auto add_up = [](CountedEdge& sum, const CountedEdge& edge) {
    sum.first_count += edge.first_count;
  };
  return runs_.merge(before, add_up, visit);
}

}  // namespace stackpack::spk
