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

  void set(std::size_t queue, std::uint64_t time) { place(queue, {time, queue}); }
  void set_empty(std::size_t queue) { place(queue, {~std::uint64_t{0}, queue | kEmpty}); }

  /// The winner; any queue when all are empty.
  [[nodiscard]] std::size_t earliest() const {
    return static_cast<std::size_t>(winners_[1].rank & ~kEmpty);
  }
  [[nodiscard]] bool empty(std::size_t queue) const {
    return (winners_[leaves_ + queue].rank & kEmpty) != 0;
  }

 private:
  static constexpr std::uint64_t kEmpty = std::uint64_t{1} << 63;

  // The least of a pair wins: an empty queue has the last of all times and ranks.
  struct Front {
    std::uint64_t time = ~std::uint64_t{0};
    std::uint64_t rank = kEmpty;  // number of the queue

    [[nodiscard]] bool wins_against(const Front& other) const {
      return time < other.time || (time == other.time && rank < other.rank);
    }
  };

  // In the header, for the loops of samples.
  void place(std::size_t queue, Front front) {
    std::size_t node = leaves_ + queue;
    winners_[node] = front;
    for (; node > 1; node /= 2) {
      const Front& rival = winners_[node ^ 1];
      front = rival.wins_against(front) ? rival : front;
      winners_[node / 2] = front;
    }
  }

  std::size_t leaves_;          // a power of two
  std::vector<Front> winners_;  // node n has the children 2n and 2n + 1; 1 is the top
};

}  // namespace stackpack::spk
