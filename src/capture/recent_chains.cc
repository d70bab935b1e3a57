#include "capture/recent_chains.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "capture/word_hash.h"

namespace stackpack::capture {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
static_assert(RecentChains::kLongest / kWord <= 0xffff);

}  // namespace

// Whether the next chain is passed over; where not, it counts.
bool RecentChains::rests() {
  if (resting_ > 0) {
    --resting_;
    return true;
  }
  return false;
}

StackMemo RecentChains::find(std::span<const std::byte> chain, std::uint8_t reading) {
  return rests() || !may_keep(chain) ? StackMemo{}
                                     : look_up(chain, reading, hash_words(chain, reading));
}

StackMemo RecentChains::find(std::span<const std::byte> chain, std::uint8_t reading,
                             std::uint64_t prepared) {
  return prepared == 0 ? find(chain, reading)
         : rests()     ? StackMemo{}
                       : look_up(chain, reading, prepared);
}

std::uint64_t RecentChains::prepare(std::span<const std::byte> chain, std::uint8_t reading) const {
  if (resting_ > 0 || sets_.empty() || !may_keep(chain)) {
    return 0;
  }
  const std::uint64_t hash = hash_words(chain, reading);
  __builtin_prefetch(&sets_[set_of(hash)]);
  return hash;
}

void RecentChains::fetch(std::uint64_t prepared) const {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kMostBytes = 6 * kLine;  // of longer chains, the rest follows by itself
  if (prepared == 0) {
    return;
  }
  const auto tag = static_cast<std::uint32_t>(prepared);
  for (const Entry& entry : sets_[set_of(prepared)].entries) {
    if (entry.tag != tag) {
      continue;
    }
    const std::byte* const bytes = ring_.data() + entry.position % kBytes;
    const std::size_t size = std::min(std::size_t{entry.words} * kWord, kMostBytes);
    for (std::size_t at = 0; at < size; at += kLine) {
      __builtin_prefetch(bytes + at);
    }
    return;
  }
}

StackMemo RecentChains::look_up(std::span<const std::byte> chain, std::uint8_t reading,
                                std::uint64_t hash) {
  if (++seen_ > kWindow) {
    resting_ = found_ < kWindow / 8 ? kRest : 0;
    seen_ = 0;
    found_ = 0;
  }
  if (sets_.empty()) {
    sets_.resize(kSets);
    if (!ring_.reserve(kBytes)) {
      throw std::bad_alloc();
    }
  }
  const std::uint32_t set = set_of(hash);
  tag_ = static_cast<std::uint32_t>(hash);
  const Entry* const entries = sets_[set].entries.data();
  std::uint32_t oldest = 0;
  for (std::uint32_t way = 0; way < kWays; ++way) {
    const Entry& entry = entries[way];
    if (entry.tag == tag_ && entry.words == chain.size() / kWord && entry.reading == reading &&
        end_ - entry.position <= kBytes &&
        std::memcmp(ring_.data() + entry.position % kBytes, chain.data(), chain.size()) == 0) {
      ++found_;
      return {set * kWays + way, true};
    }
    oldest = entry.position < entries[oldest].position ? way : oldest;
  }
  return {set * kWays + oldest, false};
}

void RecentChains::keep(std::span<const std::byte> chain, std::uint8_t reading, StackMemo memo,
                        bool fact) {
  std::size_t at = end_ % kBytes;
  if (kBytes - at < chain.size()) {
    end_ += kBytes - at;  // chains lie in one piece
    at = 0;
  }
  std::memcpy(ring_.data() + at, chain.data(), chain.size());
  entry(memo.slot) = {end_, tag_, static_cast<std::uint16_t>(chain.size() / kWord), reading, fact};
  end_ += chain.size();
}

}  // namespace stackpack::capture
