// What counters gained between samples.
//
// A sample of a group (`perf record -e '{a,b}:S'`) carries the values of all counters of the group,
// counted since they began; only the leader of the group takes samples. What each counter gained
// since the sample before is the weight of a sample of its own event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace stackpack::perf {

/// An event of a sample and what its counter gained.
struct CountedEvent {
  std::uint32_t event = 0;  ///< index in the event table of the sink
  std::uint64_t gained = 0;
};

/// The last value of every counter.
///
/// Memory: about 40 bytes a counter, up to kMostCounters of them.
class CounterDeltas {
 public:
  static constexpr std::size_t kMostCounters = std::size_t{1} << 18;

  /// Of which thread a counter is that its event has for all threads together.
  static constexpr std::uint32_t kAllThreads = ~std::uint32_t{0};

  /// What the counter gained since it was last seen, or since it began. Nothing when it went back,
  /// or when there are too many counters to know.
  std::optional<std::uint64_t> advance(std::uint64_t id, std::uint32_t tid, std::uint64_t value) {
    const Key key{id, tid};
    const auto found = last_.find(key);
    if (found == last_.end()) {
      if (last_.size() == kMostCounters) {
        return std::nullopt;
      }
      last_.emplace(key, value);
      return value;
    }
    const std::uint64_t before = found->second;
    found->second = value;
    return value >= before ? std::optional(value - before) : std::nullopt;
  }

 private:
  struct Key {
    std::uint64_t id = 0;
    std::uint32_t tid = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>((key.id ^ (std::uint64_t{key.tid} << 32)) *
                                      0x9E3779B97F4A7C15U);
    }
  };
  std::unordered_map<Key, std::uint64_t, Hash> last_;
};

}  // namespace stackpack::perf
