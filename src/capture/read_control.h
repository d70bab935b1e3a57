#pragma once

#include <atomic>
#include <cstdint>

namespace stackpack::capture {

/// What a running conversion and the one who watches it have in common; the numbers belong to the
/// watcher, the threads share them. Null pointers: nobody watches.
struct ReadControl {
  std::atomic<std::uint64_t>* bytes_done = nullptr;  ///< bytes of the capture consumed so far
  const std::atomic<bool>* cancelled = nullptr;      ///< set by the watcher: stop soon

  void advance_to(std::uint64_t bytes) const {
    if (bytes_done != nullptr) {
      bytes_done->store(bytes, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] bool stop_requested() const {
    return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
  }
};

}  // namespace stackpack::capture
