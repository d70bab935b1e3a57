#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/number_table.h"

namespace stackpack::perf {

/// Event id to attribute index. Id 0 means "no id" and is never stored.
class IdMap {
 public:
  /// Maps `id` to `index`; a later one replaces an earlier one. Id 0 is ignored.
  void insert(std::uint64_t id, std::uint32_t index) {
    if (id == 0) {
      return;
    }
    const std::uint32_t number = ids_.number(id);
    if (number == indexes_.size()) {
      indexes_.push_back(index);
    } else {
      indexes_[number] = index;
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t id) const {
    const std::uint32_t number = ids_.find(id);
    return number == decltype(ids_)::kNone ? std::nullopt : std::optional(indexes_[number]);
  }

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] bool empty() const { return ids_.empty(); }

 private:
  core::NumberTable<std::uint64_t> ids_;
  std::vector<std::uint32_t> indexes_;
};

}  // namespace stackpack::perf
