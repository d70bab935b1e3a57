#include "core/string_table.h"

#include <functional>

namespace stackpack::core {

namespace {

std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

}  // namespace

std::uint32_t StringTable::find(std::string_view wanted) const {
  return index_.find(hash_of(wanted), [&](std::uint32_t i) { return text(i) == wanted; });
}

std::uint32_t StringTable::intern(std::string_view wanted) {
  const std::uint32_t number = index_.find_or_insert(
      hash_of(wanted), static_cast<std::uint32_t>(size()),
      [&](std::uint32_t i) { return text(i) == wanted; },
      [this](std::uint32_t i) { return hash_of(text(i)); });
  if (number == size()) {
    characters_ += wanted;
    starts_.push_back(characters_.size());
  }
  return number;
}

}  // namespace stackpack::core
