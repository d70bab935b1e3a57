#include "spk/format/sample_order.h"

#include <bit>

namespace stackpack::spk {

EarliestQueue::EarliestQueue(std::size_t queues)
    : leaves_(std::bit_ceil(queues < 1 ? 1 : queues)), winners_(2 * leaves_) {
  for (std::size_t leaf = leaves_; leaf-- > 0;) {
    set_empty(leaf);
  }
}

}  // namespace stackpack::spk
