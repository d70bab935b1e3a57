// Blocks of 65,536 samples: head and body, one zstd frame each.
//
// The head says which threads have samples in the block, so that a query for one thread reads the
// heads alone of most blocks. The body has the samples as columns (column_codec.h).
//
// Order. Samples are stored in groups, one per cpu, each in the order of the capture ("stored
// order"). Within a group times ascend in small steps, and one cpu stays with one thread for a
// while; neither is true of neighbours in the capture. The order of the capture comes back by
// merging the groups by time; a column of corrections, nearly always all 0, says where that would
// be wrong.
//
// clang-format off
// Head:
//   varint  samples
//   varint  threads
//   column  pid of each thread: difference to the thread before; threads ascend by (pid, tid)
//   column  tid of each thread
// Body:
//   varint  groups
//   column  cpu per group, ascending
//   column  samples per group
//   varint  base time
//   varint  time unit
//   u8      0 or 1: form of the times;  if 1: varint nominal difference
//   column  time per sample, stored order. d = (time - time before in the group) / unit, for the first of a
//           group (time - base time) / unit. Form 0: d, never negative. Form 1: zigzag(d - nominal)
//   column  order per sample, order of the capture: (its group - group with the earliest sample
//           left, the lowest such group) modulo groups
//   column  thread per sample, stored order: 0 = as before in the group, else 1 + thread
//   column  event per sample, stored order
//   column  weight per sample, stored order: zigzag(weight - weight of the event's sample before)
//   column  origin per sample, stored order
//   column  flags per sample, stored order
//   column  callstack code per sample, thread by thread, each in the order of the capture: 0 = no
//           callstack, 1 = a difference, 2 + k = guess k of stack_predictor.h
//   column  per difference, in the order of the codes: zigzag(callstack - latest callstack of the
//           thread, 0 at first)
// clang-format on
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stackpack::spk {

/// A thread of a sample block: pid, tid.
using ThreadKey = std::pair<std::uint32_t, std::uint32_t>;

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

inline EarliestQueue::EarliestQueue(std::size_t queues)
    : leaves_(std::bit_ceil(queues < 1 ? 1 : queues)), winners_(2 * leaves_) {
  for (std::size_t leaf = leaves_; leaf-- > 0;) {
    set_empty(leaf);
  }
}

}  // namespace stackpack::spk
