#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "symbols/name_parts.h"

namespace stackpack::symbols {

namespace {

/// Rounds after which names that are still alike are left whole.
constexpr int kRounds = 6;

NameDetail more_than(NameDetail detail, int round) {
  return round >= kRounds ? NameDetail::kWhole
                          : static_cast<NameDetail>(std::min(static_cast<int>(detail) + 1,
                                                             static_cast<int>(NameDetail::kWhole)));
}

}  // namespace

std::vector<NameDetail> distinct_details(std::span<const std::string_view> names) {
  std::vector<NameDetail> details(names.size(), NameDetail::kShort);
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const std::string_view name : names) {
    texts.push_back(short_name(name));
  }
  for (int round = 0;; ++round) {
    std::unordered_map<std::string_view, std::string_view> owners;
    std::unordered_set<std::string_view> shared;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (owners.try_emplace(texts[i], names[i]).first->second != names[i]) {
        shared.insert(texts[i]);
      }
    }
    // The texts stay where they are until all that are shared are known.
    std::vector<std::size_t> longer;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (details[i] != NameDetail::kWhole && shared.contains(texts[i])) {
        longer.push_back(i);
      }
    }
    if (longer.empty()) {
      return details;
    }
    for (const std::size_t i : longer) {
      details[i] = more_than(details[i], round);
      texts[i] = short_name(names[i], details[i]);
    }
  }
}

}  // namespace stackpack::symbols
