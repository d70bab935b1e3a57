#include "spk/read/entry_summer.h"

#include "core/saturating.h"

namespace stackpack::spk {

namespace {

constexpr unsigned kWordBits = 64;

}  // namespace

bool EntrySummer::sum(const EntryColumns& of, EntrySums& sums) {
  if (!add_up(of, sums)) {
    return false;
  }
  add_rows(of);
  sums.rows = rows_;
  return true;
}

// Thread by thread: an entry is of one thread, and those of a thread are next to each other.
bool EntrySummer::add_up(const EntryColumns& of, EntrySums& sums) {
  sums_.assign(of.stacks.size(), {});
  is_first_.assign(of.order.size() / kWordBits + 1, 0);
  const bool weighs = !of.weights.empty();
  const bool flagged = !of.flags.empty();
  unsigned other_flags = 0;
  std::uint64_t other_weights = 0;
  for (const std::uint32_t at : of.by_thread) {
    Sum& sum = sums_[of.entries[at]];
    const std::uint8_t flags = flagged ? of.flags[at] : std::uint8_t{0};
    if (sum.count++ == 0) {
      is_first_[at / kWordBits] |= std::uint64_t{1} << at % kWordBits;
      sum.first = at;
      sum.flags = flags;
    }
    sum.last = at;
    other_flags |= static_cast<unsigned>(sum.flags ^ flags);
    if (weighs) {
      core::add_saturating(sum.weight, of.weights[at]);
      other_weights |= of.weights[sum.first] ^ of.weights[at];
    }
  }
  sums.equal_weights = other_weights == 0;
  return sums_.front().count == 0 && other_flags == 0;
}

void EntrySummer::add_rows(const EntryColumns& of) {
  firsts_.resize(of.order.size());
  std::uint32_t* const firsts = firsts_.data();
  const std::uint64_t* const is_first = is_first_.data();
  std::size_t rows = 0;
  for (const std::uint32_t at : of.order) {
    firsts[rows] = at;
    rows += is_first[at / kWordBits] >> at % kWordBits & 1;
  }
  rows_.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t first = firsts[row];
    const std::uint32_t entry = of.entries[first];
    const std::uint32_t thread = of.threads[first];
    const Sum& sum = sums_[entry];
    rows_[row] = {of.times[first], of.times[sum.last], sum.weight,       sum.count,
                  of.pids[thread], of.tids[thread],    of.stacks[entry], sum.flags};
  }
}

}  // namespace stackpack::spk
