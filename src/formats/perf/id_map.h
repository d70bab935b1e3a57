#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stackpack::perf {

/// Event id to attribute index: a flat table with linear probing.
///
/// Invariant: less than half of the slots are taken; id 0 is never stored (it means "no id").
/// Cost:      one multiplication and mostly one cache line for each look-up.
class IdMap {
 public:
  /// Maps `id` to `index`; a later one replaces an earlier one. Id 0 is ignored.
  void insert(std::uint64_t id, std::uint32_t index) {
    if (id == 0) {
      return;
    }
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[find_slot(id)];
    size_ += slot.id == 0 ? 1 : 0;
    slot = {id, index};
  }

  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t id) const {
    if (slots_.empty() || id == 0) {
      return std::nullopt;
    }
    const Slot& slot = slots_[find_slot(id)];
    return slot.id == id ? std::optional(slot.index) : std::nullopt;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t index = 0;
  };

  [[nodiscard]] std::size_t find_slot(std::uint64_t id) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((id * 0x9E3779B97F4A7C15U) >> 32) & mask;
    while (slots_[at].id != 0 && slots_[at].id != id) {
      at = (at + 1) & mask;
    }
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != 0) {
        slots_[find_slot(slot.id)] = slot;
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace stackpack::perf
