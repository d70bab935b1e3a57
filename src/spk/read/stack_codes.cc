#include "spk/read/stack_codes.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "bytes/byte_writer.h"

namespace stackpack::spk {

namespace {

constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};

// Moves the numbers before `place` by one and puts `number` first. Always the whole list: how far
// to go would be guessed wrong by the processor.
template <typename Numbers>
void move_up(Numbers& numbers, unsigned place, std::uint16_t number) {
  Numbers moved;
  moved[0] = number;
  for (unsigned i = 1; i < kStackGuesses; ++i) {
    moved[i] = i <= place ? numbers[i - 1] : numbers[i];
  }
  numbers = moved;
}

}  // namespace

void StackCodes::begin(std::span<const std::uint8_t> codes,
                       std::span<const std::uint64_t> differences, std::uint64_t stack_count) {
  codes_ = codes;
  differences_ = differences;
  stack_count_ = stack_count;
  entries_ = 1;
  first_entry_ = 1;
  if (differences.size() >= stacks_.size()) {
    stacks_.resize(differences.size() + 1);
  }
  stacks_.front() = kNoStack;
}

void StackCodes::begin_thread(std::size_t differences) {
  ++thread_;
  const std::size_t slots = std::bit_ceil(2 * differences + 2);
  if (thread_ == 0 || slots > slots_.size()) {
    slots_.assign(std::max(slots, slots_.size()), {});
    thread_ = 1;
  }
  mask_ = slots - 1;
  first_entry_ = entries_;
  if (differences > followers_.size()) {
    follower_count_.resize(differences);
    followers_.resize(differences);
  }
}

// Slots of other threads are free ones.
std::uint32_t StackCodes::number_of(StackId stack) {
  Slot* const slots = slots_.data();
  std::size_t slot = (stack * 0x9E3779B97F4A7C15 >> 40) & mask_;
  while (slots[slot].thread == thread_) {
    if (slots[slot].stack == stack) {
      return slots[slot].number;
    }
    slot = (slot + 1) & mask_;
  }
  const auto number = static_cast<std::uint32_t>(entries_ - first_entry_);
  slots[slot] = {thread_, stack, number};
  stacks_[entries_++] = stack;
  follower_count_[number] = 0;
  return number;
}

// Of a difference, which may be one of the guesses all the same.
void StackCodes::put_first(std::uint32_t number, std::uint32_t follower) {
  std::uint16_t* const list = followers_[number].data();
  const unsigned end = follower_count_[number];
  const auto wanted = static_cast<std::uint16_t>(follower);
  std::uint16_t before = wanted;
  for (unsigned i = 0; i < end; ++i) {
    std::swap(before, list[i]);
    if (before == wanted) {
      return;
    }
  }
  if (end < kStackGuesses) {
    list[end] = before;
    follower_count_[number] = static_cast<std::uint8_t>(end + 1);
  }
}

bool StackCodes::decode_thread(std::span<const std::uint32_t> positions, std::uint32_t* entries) {
  const std::span<const std::uint8_t> codes = codes_.first(positions.size());
  codes_ = codes_.subspan(positions.size());
  const auto count =
      static_cast<std::size_t>(std::count(codes.begin(), codes.end(), kDifferenceCode));
  if (count > kSamplesPerBlock) {
    return false;
  }
  begin_thread(count);
  const std::uint64_t* difference = differences_.first(count).data();
  differences_ = differences_.subspan(count);
  const auto first_entry = static_cast<std::uint32_t>(first_entry_);
  const StackId* const stacks = stacks_.data() + first_entry_;
  std::uint32_t latest = kNoNumber;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const unsigned code = codes[i];
    if (code == kNoStackCode) {
      continue;
    }
    std::uint32_t number = 0;
    if (code == kDifferenceCode) {
      const std::uint64_t from = latest == kNoNumber ? 0 : stacks[latest];
      const std::uint64_t stack =
          from + static_cast<std::uint64_t>(bytes::zigzag_decode(*difference++));
      if (stack >= stack_count_) {
        return false;
      }
      number = number_of(static_cast<StackId>(stack));
      if (latest != kNoNumber) {
        put_first(latest, number);
      }
    } else {
      const unsigned guess = code - kFirstGuessCode;
      if (latest == kNoNumber || guess >= follower_count_[latest]) {
        return false;
      }
      Followers& list = followers_[latest];
      number = list[guess];
      if (guess != 0) {
        move_up(list, guess, static_cast<std::uint16_t>(number));
      }
    }
    latest = number;
    entries[positions[i]] = first_entry + number;
  }
  return true;
}

}  // namespace stackpack::spk
