#include "capture/control_group_table.h"

#include <numeric>
#include <string>
#include <tuple>

#include "capture/redaction.h"
#include "core/sort_rows.h"

namespace stackpack::capture {

std::optional<std::uint32_t> ControlGroupTable::number_of(std::uint64_t id) {
  if (const auto known = by_id_.find(id); known != by_id_.end()) {
    return known->second;
  }
  if (rows_.size() >= kMostOfCapture) {
    return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(rows_.size());
  rows_.push_back({id, ""});
  by_id_.emplace(id, number);
  return number;
}

bool ControlGroupTable::set_path(std::uint64_t id, std::string_view path) {
  const auto number = number_of(id);
  if (!number) {
    return false;
  }
  if (!rows_[*number].path.empty()) {
    return true;
  }
  if (path.size() > kMostPathBytes - path_bytes_) {
    return false;
  }
  path_bytes_ += path.size();
  rows_[*number].path = path;
  return true;
}

std::optional<std::uint32_t> ControlGroupTable::number_of(const ControlGroup& group) {
  const std::pair key(group.path, group.id);
  if (const auto known = by_path_.find(key); known != by_path_.end()) {
    return known->second;
  }
  if (rows_.size() >= kMostOfFile) {
    return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(rows_.size());
  rows_.push_back(group);
  by_path_.emplace(key, number);
  return number;
}

ControlGroupTable::Sorted ControlGroupTable::sorted() const {
  std::vector<std::uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0U);
  core::sort_rows(order, [this](std::uint32_t a, std::uint32_t b) {
    return std::tie(rows_[a].path, rows_[a].id) < std::tie(rows_[b].path, rows_[b].id);
  });
  Sorted sorted;
  sorted.numbers.resize(rows_.size());
  for (const std::uint32_t number : order) {
    sorted.numbers[number] = static_cast<std::uint32_t>(sorted.rows.size());
    sorted.rows.push_back(rows_[number]);
    if (redacts_) {
      sorted.rows.back().path = without_user_names(rows_[number].path);
    }
  }
  return sorted;
}

}  // namespace stackpack::capture
