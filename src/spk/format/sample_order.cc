#include "spk/format/sample_order.h"

#include <bit>

namespace stackpack::spk {

EarliestQueue::EarliestQueue(std::size_t queues)
    : leaves_(std::bit_ceil(queues < 1 ? 1 : queues)), fronts_(leaves_), winners_(2 * leaves_) {
  for (std::size_t leaf = 0; leaf < leaves_; ++leaf) {
    winners_[leaves_ + leaf] = static_cast<std::uint32_t>(leaf);
  }
  for (std::size_t node = leaves_ - 1; node > 0; --node) {
    winners_[node] = winners_[2 * node];
  }
}

std::uint32_t EarliestQueue::better(std::uint32_t left, std::uint32_t right) const {
  const Front& a = fronts_[left];
  const Front& b = fronts_[right];
  const bool right_wins = !b.empty && (a.empty || b.time < a.time);
  return right_wins ? right : left;
}

void EarliestQueue::place(std::size_t queue, Front front) {
  fronts_[queue] = front;
  for (std::size_t node = (leaves_ + queue) / 2; node > 0; node /= 2) {
    winners_[node] = better(winners_[2 * node], winners_[2 * node + 1]);
  }
}

}  // namespace stackpack::spk
