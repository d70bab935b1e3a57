#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "core/index_table.h"

namespace stackpack::query {

/// What is known of each thread, as far as there is room: when a new thread finds none, all is
/// forgotten, and found again by who asks.
///
/// Memory: up to kMostThreads states.
template <typename State>
class KnownThreads {
 public:
  static constexpr std::size_t kMostThreads = 65'536;

  /// The state of a thread, a fresh one where nothing is known. Valid until the next call.
  State& of(std::uint32_t pid, std::uint32_t tid) {
    const std::uint64_t key = (std::uint64_t{pid} << 32) | tid;
    Recent& recent = recent_[core::spread_bits(key) % kRecentThreads];
    if (recent.state != nullptr && recent.key == key) {
      return *recent.state;
    }
    auto known = states_.find(key);
    if (known == states_.end()) {
      if (states_.size() == kMostThreads) {
        forget();
      }
      known = states_.try_emplace(key).first;
    }
    State& state = known->second;
    recent = {key, &state};
    return state;
  }

  void forget() {
    states_.clear();
    recent_ = {};
  }

 private:
  // Threads that were seen lately: samples are many, and a look-up is slow.
  struct Recent {
    std::uint64_t key = 0;
    State* state = nullptr;  // references into the map stay valid
  };
  static constexpr std::size_t kRecentThreads = 1024;

  std::unordered_map<std::uint64_t, State> states_;
  std::array<Recent, kRecentThreads> recent_{};
};

}  // namespace stackpack::query
