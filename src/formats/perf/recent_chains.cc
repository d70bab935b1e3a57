#include "formats/perf/recent_chains.h"

#include <cstring>
#include <new>

#include "capture/word_hash.h"

namespace stackpack::perf {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
static_assert(RecentChains::kLongest / kWord <= 0xffff);

}  // namespace

capture::StackMemo RecentChains::find(std::span<const std::byte> chain, FrameMode mode) {
  if (resting_ > 0) {
    --resting_;
    return {};
  }
  if (chain.empty() || chain.size() > kLongest) {
    return {};
  }
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
  const std::uint64_t hash = capture::hash_words(chain, static_cast<std::uint64_t>(mode));
  const auto set = static_cast<std::uint32_t>(hash >> 32) % kSets;
  tag_ = static_cast<std::uint32_t>(hash);
  const Entry* const entries = sets_[set].entries.data();
  std::uint32_t oldest = 0;
  for (std::uint32_t way = 0; way < kWays; ++way) {
    const Entry& entry = entries[way];
    if (entry.tag == tag_ && entry.words == chain.size() / kWord && entry.mode == mode &&
        end_ - entry.position <= kBytes &&
        std::memcmp(ring_.data() + entry.position % kBytes, chain.data(), chain.size()) == 0) {
      ++found_;
      return {set * kWays + way, true};
    }
    oldest = entry.position < entries[oldest].position ? way : oldest;
  }
  return {set * kWays + oldest, false};
}

void RecentChains::keep(std::span<const std::byte> chain, FrameMode mode, capture::StackMemo memo,
                        bool fact) {
  std::size_t at = end_ % kBytes;
  if (kBytes - at < chain.size()) {
    end_ += kBytes - at;  // chains lie in one piece
    at = 0;
  }
  std::memcpy(ring_.data() + at, chain.data(), chain.size());
  entry(memo.slot) = {end_, tag_, static_cast<std::uint16_t>(chain.size() / kWord), mode, fact};
  end_ += chain.size();
}

}  // namespace stackpack::perf
