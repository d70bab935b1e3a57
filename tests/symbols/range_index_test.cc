// Which ranges have an address, where few or many do: against a look at each of them.
#include "symbols/range_index.h"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using stackpack::CodeLine;
using stackpack::Function;
using stackpack::FunctionOwner;
using stackpack::kUnknownTime;
using stackpack::symbols::birth_key;
using stackpack::symbols::RangeIndex;
using stackpack::symbols::RangeOwner;

namespace {

constexpr std::uint32_t kPids = 3;

// By pid, then start, as in a file. Of the last pid they do not overlap.
template <typename Row>
std::vector<Row> random_rows(std::mt19937_64& random, std::size_t count) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    Row row;
    row.pid = static_cast<std::uint32_t>(random() % kPids);
    const bool alone = row.pid + 1 == kPids;
    row.start = alone ? 10 * i : random() % 200;
    row.size = alone ? 10 : 1 + random() % 150;
    row.born_ns = random() % 5 == 0 ? kUnknownTime : random() % 20;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.pid != b.pid ? a.pid < b.pid : a.start < b.start;
  });
  return rows;
}

// The row that `better(row, best so far)` leaves of those that have an address.
template <typename Row, typename Better>
const Row* plain_search(const std::vector<Row>& rows, std::uint32_t pid, std::uint64_t address,
                        const Better& better) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (row.pid == pid && address >= row.start && address - row.start < row.size &&
        better(row, best)) {
      best = &row;
    }
  }
  return best;
}

template <typename Row>
void compare(std::size_t count) {
  constexpr unsigned kSeed = 31;
  CAPTURE(kSeed);
  CAPTURE(count);
  std::mt19937_64 random(kSeed);
  const std::vector<Row> rows = random_rows<Row>(random, count);
  const RangeIndex<Row> index(rows, {});
  std::size_t found = 0;
  for (int i = 0; i < 4'000; ++i) {
    const auto pid = static_cast<std::uint32_t>(random() % (kPids + 1));
    const std::uint64_t address = random() % 400;
    const std::uint64_t key = random() % 22;
    const RangeOwner owner{FunctionOwner::kProcess, pid, kUnknownTime};
    const Row* const first = plain_search(rows, pid, address, [](const Row& row, const Row* best) {
      return best == nullptr || birth_key(row) < birth_key(*best);
    });
    const Row* const until =
        plain_search(rows, pid, address, [key](const Row& row, const Row* best) {
          return birth_key(row) <= key && (best == nullptr || birth_key(row) >= birth_key(*best));
        });
    const Row* const of = plain_search(rows, pid, address, [key](const Row& row, const Row*) {
      return birth_key(row) == 0 || birth_key(row) == key;
    });
    CHECK(index.first(owner, address) == first);
    CHECK(index.any(owner, address) == (first != nullptr));
    CHECK(index.last_until(owner, address, key) == until);
    CHECK(index.last_of(owner, address, key) == of);
    found += first != nullptr && until != nullptr && of != nullptr ? 1 : 0;
  }
  CHECK(found > 100);
}

}  // namespace

TEST_CASE("range index: what has an address, few ranges and many") {
  for (const std::size_t count : {std::size_t{60}, std::size_t{2'000}}) {
    compare<Function>(count);
    compare<CodeLine>(count);
  }
}
