#include "dag/ascending_lists.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/bit_array.h"

namespace stackpack::dag {
namespace {

constexpr std::uint64_t kPageBytes = scratch::SpillPages::kPageBytes;

// What comes after the first number, less one for each number between.
std::uint32_t excess(std::span<const std::uint32_t> numbers, std::size_t i) {
  return numbers[i] - numbers[0] - static_cast<std::uint32_t>(i);
}

constexpr std::size_t words_of_lows(std::size_t count, unsigned width) {
  return width == 0 ? 0 : core::words_for_bits(count * width);
}

}  // namespace

AscendingLists::AscendingLists(std::string directory, std::uint64_t budget_bytes,
                               std::span<const std::uint64_t> counts)
    : file_(std::move(directory)), pages_(file_, budget_bytes) {
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  packed_ = total > budget_bytes / sizeof(std::uint32_t);
  for (const std::uint64_t count : counts) {
    lists_.push_back({.begin = end_, .count = count});
    end_ += packed_ ? (count + kBlockNumbers - 1) / kBlockNumbers * sizeof(Block)
                    : count * sizeof(std::uint32_t);
  }
}

Status AscendingLists::add(std::size_t list, std::uint32_t number) {
  List& to = lists_[list];
  assert(to.added < to.count);
  if (!packed_) {
    return pages_.set(to.begin + to.added++ * sizeof number, number);
  }
  const std::uint64_t place = to.added % kBlockNumbers;
  assert(place == 0 || to.open[place - 1] < number);
  to.open[place] = number;
  ++to.added;
  if (place + 1 == kBlockNumbers || to.added == to.count) {
    return write_block(to, std::span(to.open).first(place + 1));
  }
  return {};
}

Status AscendingLists::write_block(List& list, std::span<const std::uint32_t> numbers) {
  const std::size_t count = numbers.size();
  const std::uint64_t highest = excess(numbers, count - 1);
  Block block;
  block.first = numbers[0];
  // Then there are fewer than twice as many steps as numbers.
  block.low_width = highest < count ? 0 : core::bit_width_of(highest / count) - 1;
  const std::size_t low_words = words_of_lows(count, block.low_width);
  const std::size_t step_words = (count + (highest >> block.low_width)) / 64 + 1;
  std::array<std::uint64_t, words_of_lows(kBlockNumbers, 32) + 3 * kBlockNumbers / 64 + 1> words{};
  const std::span<std::uint64_t> steps = std::span(words).subspan(low_words);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = excess(numbers, i);
    core::write_bits(words, i * block.low_width, block.low_width,
                     value & core::low_bits(block.low_width));
    core::write_bits(steps, (value >> block.low_width) + i, 1, 1);
  }
  // A block lies in one page, at a multiple of eight.
  const std::uint64_t bytes = (low_words + step_words) * sizeof(std::uint64_t);
  if (end_ % kPageBytes + bytes > kPageBytes) {
    end_ = (end_ / kPageBytes + 1) * kPageBytes;
  }
  block.offset = end_;
  end_ += bytes;
  const Result<std::byte*> at = pages_.bytes_at(block.offset, true);
  if (!at) {
    return at.error();
  }
  std::memcpy(*at, words.data(), bytes);
  return pages_.set(list.begin + (list.added - 1) / kBlockNumbers * sizeof block, block);
}

Result<std::uint32_t> AscendingLists::at(std::size_t list, std::uint64_t index) {
  const List& from = lists_[list];
  assert(index < from.count);
  if (!packed_) {
    return pages_.get<std::uint32_t>(from.begin + index * sizeof(std::uint32_t));
  }
  const Result<Block> block = pages_.get<Block>(from.begin + index / kBlockNumbers * sizeof(Block));
  if (!block) {
    return block.error();
  }
  const Result<std::byte*> bytes = pages_.bytes_at(block->offset, false);
  if (!bytes) {
    return bytes.error();
  }
  const std::uint64_t place = index % kBlockNumbers;
  const std::uint64_t count = std::min(kBlockNumbers, from.count - (index - place));
  const std::size_t low_bytes = words_of_lows(count, block->low_width) * sizeof(std::uint64_t);
  const std::uint64_t low =
      low_bytes == 0 ? 0
                     : core::read_short_bits({*bytes, low_bytes}, place * block->low_width,
                                             core::low_bits(block->low_width));
  // The set bit number `place` has as many clear ones before it as there are steps.
  std::uint64_t word = 0;
  auto rank = static_cast<unsigned>(place);
  std::uint64_t steps = 0;
  for (const std::byte* next = *bytes + low_bytes;; next += sizeof word, steps += 64) {
    std::memcpy(&word, next, sizeof word);
    const unsigned set = core::count_bits(word);
    if (rank < set) {
      break;
    }
    rank -= set;
  }
  steps += core::select_bit(word, rank) - place;
  return static_cast<std::uint32_t>(block->first + place + (steps << block->low_width | low));
}

}  // namespace stackpack::dag
