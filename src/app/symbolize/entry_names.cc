#include "app/symbolize/entry_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "app/symbolize/added_names.h"
#include "symbols/interrupt_entries.h"

namespace stackpack::app {

namespace {

bool is_entry(const Names& names, const Function& function) {
  const std::string_view linkage =
      names.texts[function.linkage == kNoText ? function.name : function.linkage];
  return symbols::entry_kind(linkage, true) != symbols::EntryKind::kNone ||
         symbols::entry_kind(linkage, false) != symbols::EntryKind::kNone;
}

}  // namespace

std::optional<Names> names_with_entries(const Names& old, std::span<const std::uint32_t> first_rows,
                                        std::span<const AskedOwner> parts,
                                        std::span<const NamingAnswer> answers) {
  const auto has_entry = [](const NamingAnswer& answer) {
    return std::any_of(
        answer.names.functions.begin(), answer.names.functions.end(),
        [&answer](const Function& function) { return is_entry(answer.names, function); });
  };
  if (std::none_of(answers.begin(), answers.end(), has_entry)) {
    return std::nullopt;
  }
  AddedNames names(old, first_rows);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    names.add(answers[i].names, parts[i].owner, parts[i].addresses);
  }
  return std::move(names).finish();
}

}  // namespace stackpack::app
