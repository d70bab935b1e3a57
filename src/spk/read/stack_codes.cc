#include "spk/read/stack_codes.h"

#include <algorithm>
#include <bit>

#include "bytes/byte_writer.h"

namespace stackpack::spk {

namespace {

constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};

}  // namespace

void StackCodes::begin(std::span<const std::uint8_t> codes,
                       std::span<const std::uint64_t> differences, std::uint64_t stack_count) {
  codes_ = codes;
  differences_ = differences;
  stack_count_ = stack_count;
}

void StackCodes::begin_thread(std::size_t differences) {
  ++thread_;
  const std::size_t slots = std::bit_ceil(2 * differences + 2);
  if (thread_ == 0 || slots > slots_.size()) {
    slots_.assign(std::max(slots, slots_.size()), {});
    thread_ = 1;
  }
  mask_ = slots - 1;
  known_count_ = 0;
  if (differences > known_.size()) {
    known_.resize(differences);
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
  const std::uint32_t number = known_count_++;
  slots[slot] = {thread_, stack, number};
  known_[number] = {stack, 0};
  return number;
}

// Of a difference, which may be one of the guesses all the same.
void StackCodes::put_first(std::uint32_t number, std::uint32_t follower) {
  Known& known = known_[number];
  std::uint32_t* const list = followers_[number].data();
  const std::uint32_t end = known.followers;
  std::uint32_t before = follower;
  for (std::uint32_t i = 0; i < end; ++i) {
    std::swap(before, list[i]);
    if (before == follower) {
      return;
    }
  }
  if (end < kStackGuesses) {
    list[end] = before;
    known.followers = end + 1;
  }
}

bool StackCodes::decode_thread(std::span<const std::uint32_t> positions, StackId* stacks) {
  const std::span<const std::uint8_t> codes = codes_.first(positions.size());
  codes_ = codes_.subspan(positions.size());
  const auto count =
      static_cast<std::size_t>(std::count(codes.begin(), codes.end(), kDifferenceCode));
  begin_thread(count);
  const std::uint64_t* difference = differences_.first(count).data();
  differences_ = differences_.subspan(count);
  std::uint32_t latest = kNoNumber;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const unsigned code = codes[i];
    if (code == kNoStackCode) {
      continue;
    }
    std::uint32_t number = 0;
    if (code == kDifferenceCode) {
      const std::uint64_t from = latest == kNoNumber ? 0 : known_[latest].stack;
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
      if (latest == kNoNumber || guess >= known_[latest].followers) {
        return false;
      }
      std::uint32_t* const list = followers_[latest].data();
      number = list[guess];
      for (unsigned place = guess; place > 0; --place) {
        list[place] = list[place - 1];
      }
      list[0] = number;
    }
    latest = number;
    stacks[positions[i]] = known_[number].stack;
  }
  return true;
}

}  // namespace stackpack::spk
