#include "spk/write/stack_count_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/saturating.h"

namespace stackpack::spk {

namespace {

using Row = StackCountTable::Row;

constexpr std::uint64_t kLeastCounts = 1024;

auto key_of(const Row& row) {
  return std::tie(row.stack, row.event, row.pid, row.origin);
}

}  // namespace

StackCountTable::StackCountTable(std::string scratch_directory, std::uint64_t memory_bytes)
    : most_counts_(memory_bytes == 0 ? ~std::uint64_t{0}
                                     : std::max(kLeastCounts, memory_bytes / kBytesPerCount)),
      runs_(std::move(scratch_directory), memory_bytes / 2) {}

std::uint64_t StackCountTable::HashKey::operator()(const Key& key) const {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = (std::uint64_t{key.pid} << 32 | key.stack) * kMultiplier;
  hash ^= hash >> 29;
  hash += std::uint64_t{key.event} << 2 | static_cast<std::uint64_t>(key.origin);
  hash *= kMultiplier;
  return hash ^ (hash >> 32);
}

Status StackCountTable::add(const StoredSample& sample) {
  return add(StackCount{sample.stack, sample.event, sample.pid, sample.origin, 1, sample.weight});
}

Status StackCountTable::add(const StackCount& more) {
  // Counts have no flags, which tell unwound callstacks from recorded ones.
  const StackOrigin origin =
      more.origin == StackOrigin::kUnwound ? StackOrigin::kRecorded : more.origin;
  const std::uint32_t number = keys_.number({more.stack, more.event, more.pid, origin});
  if (number == counts_.size()) {
    counts_.emplace_back();
  }
  Count& count = counts_[number];
  core::add_saturating(count.samples, more.samples);
  core::add_saturating(count.weight, more.weight);
  return counts_.size() < most_counts_ ? Status{} : runs_.add(take_sorted());
}

std::vector<Row> StackCountTable::take_sorted() {
  std::vector<Row> rows;
  rows.reserve(counts_.size());
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    const Key& key = keys_[i];
    rows.push_back(
        {key.stack, key.event, key.pid, key.origin, counts_[i].samples, counts_[i].weight});
  }
  keys_.release();
  counts_ = {};
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return key_of(a) < key_of(b); });
  return rows;
}

Status StackCountTable::for_each_block(std::size_t block_rows,
                                       const std::function<Status(std::span<const Row>)>& visit) {
  if (runs_.empty()) {
    const std::vector<Row> rows = take_sorted();
    for (std::size_t at = 0; at < rows.size(); at += block_rows) {
      const auto block =
          std::span<const Row>(rows).subspan(at, std::min(block_rows, rows.size() - at));
      if (const Status visited = visit(block); !visited) {
        return visited;
      }
    }
    return {};
  }
  if (!counts_.empty()) {
    if (const Status spilled = runs_.add(take_sorted()); !spilled) {
      return spilled;
    }
  }
  std::vector<Row> block;
  const auto before = [](const Row& a, const Row& b) { return key_of(a) < key_of(b); };
  const auto add_up = [](Row& sum, const Row& row) {
    sum.samples += row.samples;
    core::add_saturating(sum.weight, row.weight);
  };
  const Status merged = runs_.merge(before, add_up, [&](const Row& row) -> Status {
    block.push_back(row);
    if (block.size() < block_rows) {
      return {};
    }
    const Status visited = visit(block);
    block.clear();
    return visited;
  });
  return merged && !block.empty() ? visit(block) : merged;
}

}  // namespace stackpack::spk
