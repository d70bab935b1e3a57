#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "formats/etl/event_kinds.h"
#include "formats/etl/event_window.h"
#include "formats/etl/index_table.h"
#include "formats/etl/stack_keys.h"

namespace stackpack::etl {

/// A kernel half that waits for the user half of its thread.
struct WaitingHalf {
  EventFacts event;
  StackPart kernel = kNoPart;
};

/// Kernel halves of a thread that went to the scratch file.
struct SpilledHalves {
  std::uint64_t offset = 0;
  std::size_t size = 0;
};

/// What is remembered of a thread. Thread 0 exists once per processor; events without a thread are
/// kept under kNoId, also per processor.
struct ThreadState {
  std::uint64_t key = 0;
  WindowIndex last_event = kNotInWindow;
  std::uint64_t closed_clock = 0;  ///< own clock of the last user half
  bool closed = false;
  std::uint32_t pid = kNoId;  ///< from the Thread events
  WindowIndex runtime_event[kRuntimeCount] = {kNotInWindow, kNotInWindow, kNotInWindow};
  std::vector<SpilledHalves> spilled;  ///< older than those of `waiting`
  std::vector<WaitingHalf> waiting;
};

class ThreadStates {
 public:
  /// The state of a thread; made when it is new. References stay valid.
  ThreadState& of(std::uint32_t tid, std::uint16_t processor) {
    const std::uint64_t key = key_of(tid, processor);
    if (last_ != nullptr && last_->key == key) {
      return *last_;
    }
    const std::uint64_t hash = mix_bits(key);
    const std::uint32_t found =
        table_.find(hash, [&](std::uint32_t index) { return states_[index].key == key; });
    if (found != IndexTable::kNone) {
      last_ = &states_[found];
      return *last_;
    }
    const auto index = static_cast<std::uint32_t>(states_.size());
    states_.emplace_back();
    if (tid == kNoId) {
      nobody_.push_back(processor);
    }
    states_.back().key = key;
    table_.insert(hash, index,
                  [this](std::uint32_t other) { return mix_bits(states_[other].key); });
    last_ = &states_.back();
    return *last_;
  }

  [[nodiscard]] std::deque<ThreadState>& all() { return states_; }
  [[nodiscard]] std::size_t size() const { return states_.size(); }

  /// Forgets the threads for which `keep(state)` is false. All references become invalid.
  template <typename Keep>
  void compact(Keep keep) {
    std::deque<ThreadState> kept;
    for (ThreadState& state : states_) {
      const bool nobody = static_cast<std::uint32_t>(state.key) == kNoId;
      if (nobody || keep(std::as_const(state))) {
        kept.push_back(std::move(state));
      }
    }
    states_ = std::move(kept);
    last_ = nullptr;
    table_.clear();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      table_.insert(mix_bits(states_[i].key), static_cast<std::uint32_t>(i),
                    [this](std::uint32_t other) { return mix_bits(states_[other].key); });
    }
  }

  /// Processors which logged events without a thread.
  [[nodiscard]] const std::vector<std::uint16_t>& processors_without_threads() const {
    return nobody_;
  }

 private:
  static std::uint64_t key_of(std::uint32_t tid, std::uint16_t processor) {
    const bool per_processor = tid == 0 || tid == kNoId;
    return per_processor ? (std::uint64_t{1} << 48) | (std::uint64_t{processor} << 32) | tid
                         : std::uint64_t{tid};
  }

  std::deque<ThreadState> states_;
  std::vector<std::uint16_t> nobody_;
  IndexTable table_;
  ThreadState* last_ = nullptr;
};

}  // namespace stackpack::etl
