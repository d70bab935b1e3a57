#include "symbolize/name_collector.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "bytes/hash.h"
#include "core/sort_rows.h"

namespace stackpack::symbolize {

namespace {

// An unknown time comes before all others: it is stored as 0.
auto order_of(const CodeRange& row) {
  const std::uint32_t place = row.owner == FunctionOwner::kImage ? row.module : row.pid;
  return std::tuple(row.owner, place, row.start, row.life_ns + 1);
}

template <typename Row>
bool same_range(const Row& a, const Row& b) {
  return order_of(a) == order_of(b) && a.size == b.size && a.born_ns == b.born_ns;
}

std::uint64_t hash_of(std::string_view text) {
  return bytes::xxh3_64(std::as_bytes(std::span(text)));
}

std::uint64_t hash_of(const InlinedCall& call) {
  std::uint64_t hash = call.parent;
  for (const std::uint32_t field : {call.name, call.linkage, call.call_file, call.call_line}) {
    hash = core::spread_bits(hash) ^ field;
  }
  return core::spread_bits(hash);
}

}  // namespace

std::uint32_t NameCollector::text(std::string_view text) {
  if (text.empty()) {
    return kNoText;
  }
  const TextTable& texts = names_.texts;
  const auto next = static_cast<std::uint32_t>(texts.size());
  const std::uint32_t number = texts_.find_or_insert(
      hash_of(text), next, [&](std::uint32_t i) { return texts[i] == text; },
      [&texts](std::uint32_t i) { return hash_of(texts[i]); });
  if (number == next) {
    names_.texts.add(text);
  }
  return number;
}

std::uint32_t NameCollector::add_call(const InlinedCall& call) {
  const std::vector<InlinedCall>& calls = names_.inlined;
  const auto next = static_cast<std::uint32_t>(calls.size());
  const std::uint32_t number = calls_.find_or_insert(
      hash_of(call), next, [&](std::uint32_t i) { return calls[i] == call; },
      [&calls](std::uint32_t i) { return hash_of(calls[i]); });
  if (number == next) {
    names_.inlined.push_back(call);
  }
  return number;
}

Names NameCollector::finish() && {
  const auto by_birth = [](const auto& row) {
    return std::tuple_cat(order_of(row), std::tuple(row.born_ns + 1));
  };
  core::sort_rows(names_.functions,
                  [&](const Function& a, const Function& b) { return by_birth(a) < by_birth(b); });
  core::sort_rows(names_.lines,
                  [&](const CodeLine& a, const CodeLine& b) { return by_birth(a) < by_birth(b); });
  names_.functions.erase(std::unique(names_.functions.begin(), names_.functions.end()),
                         names_.functions.end());
  names_.lines.erase(std::unique(names_.lines.begin(), names_.lines.end(), same_range<CodeLine>),
                     names_.lines.end());
  const auto pair_of = [](const FunctionAlias& row) { return std::pair(row.name, row.alias); };
  core::sort_rows(names_.aliases, [&](const FunctionAlias& a, const FunctionAlias& b) {
    return pair_of(a) < pair_of(b);
  });
  names_.aliases.erase(std::unique(names_.aliases.begin(), names_.aliases.end()),
                       names_.aliases.end());
  return std::move(names_);
}

}  // namespace stackpack::symbolize
