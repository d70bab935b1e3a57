#include "spk/stack_count_table.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

namespace stackpack::spk {

namespace {

using Row = StackCountTable::Row;

// Runs hold rows as they are in memory: the process that wrote them reads them.
static_assert(std::is_trivially_copyable_v<Row>);

constexpr std::uint64_t kLeastCounts = 1024;
constexpr std::size_t kMostRowsRead = 4096;
constexpr std::size_t kLeastRowsRead = 64;

auto key_of(const Row& row) {
  return std::tie(row.stack, row.event, row.pid, row.origin);
}

void add_saturating(std::uint64_t& sum, std::uint64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) {
    sum = ~std::uint64_t{0};
  }
}

}  // namespace

class StackCountTable::RunReader {
 public:
  RunReader(const io::SpillFile& scratch, const Run& run, std::size_t block_rows)
      : scratch_(&scratch), run_(run), block_rows_(block_rows) {}

  /// False at the end.
  Result<bool> advance() {
    if (++at_ < rows_.size()) {
      return true;
    }
    if (run_.rows == 0) {
      return false;
    }
    rows_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block_rows_, run_.rows)));
    at_ = 0;
    const auto bytes = std::as_writable_bytes(std::span(rows_));
    if (const Status read = scratch_->read_at(run_.offset, bytes); !read) {
      return read.error();
    }
    run_.offset += bytes.size();
    run_.rows -= rows_.size();
    return true;
  }

  [[nodiscard]] const Row& current() const { return rows_[at_]; }

 private:
  const io::SpillFile* scratch_;
  Run run_;  // what is left of it
  std::size_t block_rows_;
  std::vector<Row> rows_;
  std::size_t at_ = 0;
};

StackCountTable::StackCountTable(std::string scratch_directory, std::uint64_t memory_bytes)
    : most_counts_(memory_bytes == 0 ? ~std::uint64_t{0}
                                     : std::max(kLeastCounts, memory_bytes / kBytesPerCount)),
      memory_bytes_(memory_bytes),
      scratch_(std::move(scratch_directory)) {}

std::size_t StackCountTable::HashKey::operator()(const Key& key) const {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = (std::uint64_t{key.pid} << 32 | key.stack) * kMultiplier;
  hash ^= hash >> 29;
  hash += std::uint64_t{key.event} << 2 | static_cast<std::uint64_t>(key.origin);
  hash *= kMultiplier;
  return hash ^ (hash >> 32);
}

Status StackCountTable::add(const StoredSample& sample) {
  Count& count = counts_[{sample.stack, sample.event, sample.pid, sample.origin}];
  ++count.samples;
  add_saturating(count.weight, sample.weight);
  return counts_.size() < most_counts_ ? Status{} : spill();
}

std::vector<Row> StackCountTable::take_sorted() {
  std::vector<Row> rows;
  rows.reserve(counts_.size());
  for (const auto& [key, count] : counts_) {
    rows.push_back({key.stack, key.event, key.pid, key.origin, count.samples, count.weight});
  }
  counts_.clear();
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return key_of(a) < key_of(b); });
  return rows;
}

Status StackCountTable::spill() {
  const std::vector<Row> rows = take_sorted();
  const Result<std::uint64_t> offset = scratch_.append(std::as_bytes(std::span(rows)));
  if (!offset) {
    return offset.error();
  }
  runs_.push_back({*offset, rows.size()});
  return {};
}

// Each key once, the counts of all runs added up.
Status StackCountTable::merge(const std::function<Status(const Row&)>& visit) {
  const std::size_t block_rows =
      std::clamp(static_cast<std::size_t>(memory_bytes_ / 2 / sizeof(Row)) / runs_.size(),
                 kLeastRowsRead, kMostRowsRead);
  std::vector<RunReader> open;  // a heap, the lowest key in front
  const auto later = [](const RunReader& a, const RunReader& b) {
    return key_of(a.current()) > key_of(b.current());
  };
  for (const Run& run : runs_) {
    RunReader reader(scratch_, run, block_rows);
    const Result<bool> more = reader.advance();
    if (!more) {
      return more.error();
    }
    open.push_back(std::move(reader));
  }
  std::make_heap(open.begin(), open.end(), later);
  while (!open.empty()) {
    Row sum = open.front().current();
    sum.samples = 0;
    sum.weight = 0;
    while (!open.empty() && key_of(open.front().current()) == key_of(sum)) {
      std::pop_heap(open.begin(), open.end(), later);
      sum.samples += open.back().current().samples;
      add_saturating(sum.weight, open.back().current().weight);
      const Result<bool> more = open.back().advance();
      if (!more) {
        return more.error();
      }
      if (*more) {
        std::push_heap(open.begin(), open.end(), later);
      } else {
        open.pop_back();
      }
    }
    if (const Status visited = visit(sum); !visited) {
      return visited;
    }
  }
  return {};
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
    if (const Status spilled = spill(); !spilled) {
      return spilled;
    }
  }
  std::vector<Row> block;
  const Status merged = merge([&](const Row& row) -> Status {
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
