#include "export/naming/string_table.h"

#include <algorithm>
#include <functional>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kFirstStringSlots = 256;

}  // namespace

void StringTable::grow() {
  const std::size_t count = std::max(kFirstStringSlots, slots_.size() * 2);
  slots_.assign(count, 0);
  for (std::uint32_t i = 0; i < size(); ++i) {
    std::size_t slot = std::hash<std::string_view>()(text(i)) & (count - 1);
    while (slots_[slot] != 0) {
      slot = (slot + 1) & (count - 1);
    }
    slots_[slot] = i + 1;
  }
}

std::uint32_t StringTable::intern(std::string_view text_in) {
  if (size() * 2 >= slots_.size()) {
    grow();
  }
  std::size_t slot = std::hash<std::string_view>()(text_in) & (slots_.size() - 1);
  while (slots_[slot] != 0 && text(slots_[slot] - 1) != text_in) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  if (slots_[slot] == 0) {
    characters_ += text_in;
    starts_.push_back(characters_.size());
    slots_[slot] = static_cast<std::uint32_t>(size());
  }
  return slots_[slot] - 1;
}

}  // namespace stackpack::exporting
