#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stackpack::spk {

/// Which of several queues has the earliest front: a tournament tree over the queues' next times.
/// Among equal times the queue with the lowest number wins. An empty queue loses against all
/// others.
class EarliestQueue {
 public:
  explicit EarliestQueue(std::size_t queues);

  void set(std::size_t queue, std::uint64_t time) { place(queue, {time, false}); }
  void set_empty(std::size_t queue) { place(queue, {0, true}); }

  /// The winner; any queue when all are empty.
  [[nodiscard]] std::size_t earliest() const { return winners_[1]; }
  [[nodiscard]] bool empty(std::size_t queue) const { return fronts_[queue].empty; }

 private:
  struct Front {
    std::uint64_t time = 0;
    bool empty = true;
  };
  void place(std::size_t queue, Front front);
  [[nodiscard]] std::uint32_t better(std::uint32_t left, std::uint32_t right) const;

  std::size_t leaves_;  // a power of two
  std::vector<Front> fronts_;
  std::vector<std::uint32_t> winners_;  // node n has the children 2n and 2n + 1; 1 is the top
};

}  // namespace stackpack::spk
