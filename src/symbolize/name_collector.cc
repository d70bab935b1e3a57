#include "symbolize/name_collector.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stackpack::symbolize {

namespace {

// An unknown time comes before all others: it is stored as 0.
auto order_of(const CodeRange& row) {
  const std::uint32_t place = row.owner == FunctionOwner::kImage ? row.module : row.pid;
  return std::tuple(row.owner, place, row.start, row.life_ns + 1);
}

template <typename Row>
bool same_range(const Row& a, const Row& b) {
  return order_of(a) == order_of(b) && a.size == b.size;
}

}  // namespace

std::size_t NameCollector::CallHash::operator()(const InlinedCall& call) const {
  constexpr std::uint64_t kFactor = 0x9E37'79B9'7F4A'7C15ULL;
  std::uint64_t hash = call.parent;
  for (const std::uint32_t field : {call.name, call.linkage, call.call_file, call.call_line}) {
    hash = (hash ^ field) * kFactor;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

std::uint32_t NameCollector::text(std::string_view text) {
  if (text.empty()) {
    return kNoText;
  }
  const std::size_t hash = std::hash<std::string_view>{}(text);
  const auto [begin, end] = texts_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    if (names_.texts[known->second] == text) {
      return known->second;
    }
  }
  const auto number = static_cast<std::uint32_t>(names_.texts.size());
  names_.texts.add(text);
  texts_.emplace(hash, number);
  return number;
}

std::uint32_t NameCollector::add_call(const InlinedCall& call) {
  const auto [known, fresh] =
      calls_.try_emplace(call, static_cast<std::uint32_t>(names_.inlined.size()));
  if (fresh) {
    names_.inlined.push_back(call);
  }
  return known->second;
}

Names NameCollector::finish() && {
  const auto by_birth = [](const Function& row) {
    return std::tuple_cat(order_of(row), std::tuple(row.born_ns + 1));
  };
  std::stable_sort(names_.functions.begin(), names_.functions.end(),
                   [&](const Function& a, const Function& b) { return by_birth(a) < by_birth(b); });
  std::stable_sort(names_.lines.begin(), names_.lines.end(),
                   [](const CodeLine& a, const CodeLine& b) { return order_of(a) < order_of(b); });
  names_.functions.erase(std::unique(names_.functions.begin(), names_.functions.end()),
                         names_.functions.end());
  names_.lines.erase(std::unique(names_.lines.begin(), names_.lines.end(), same_range<CodeLine>),
                     names_.lines.end());
  return std::move(names_);
}

}  // namespace stackpack::symbolize
