#include "query/naming/entity_table.h"

#include <functional>
#include <string_view>
#include <tuple>

namespace stackpack::query {

namespace {

auto texts_of(const FrameEntity& entity) {
  return std::tie(entity.name, entity.module, entity.place, entity.function,
                  entity.function_module);
}

std::uint64_t hash_of(const FrameEntity& entity) {
  const auto mixed = [](const auto&... texts) {
    std::uint64_t hash = 0;
    ((hash = core::mix_bits(hash ^ std::hash<std::string_view>()(texts))), ...);
    return hash;
  };
  return std::apply(mixed, texts_of(entity));
}

}  // namespace

std::uint32_t EntityTable::number(FrameEntity entity) {
  const std::uint32_t number = index_.find_or_insert(
      hash_of(entity), static_cast<std::uint32_t>(entities_.size()),
      [&](std::uint32_t i) { return texts_of(entities_[i]) == texts_of(entity); },
      [this](std::uint32_t i) { return hash_of(entities_[i]); });
  if (number == entities_.size()) {
    entities_.push_back(std::move(entity));
  } else {
    see_as(number, entity.mode);
    // Of one function it is the same list every time.
    std::vector<AliasList>& known = entities_[number].aliases;
    for (AliasList& list : entity.aliases) {
      if (known.empty() || known.back().texts != list.texts) {
        known.push_back(std::move(list));
      }
    }
  }
  return number;
}

}  // namespace stackpack::query
