#include "dag/node_store.h"

#include <algorithm>
#include <utility>

namespace stackpack::dag {

bool NodeStore::reserve(std::uint64_t count) {
  if (count <= capacity_) {
    return true;
  }
  if (!words_.reserve(count) || !parents_.reserve(count) || !ends_.reserve(count / 64 + 1)) {
    return false;
  }
  capacity_ = std::min({words_.capacity(), parents_.capacity(), ends_.capacity() * 64});
  return true;
}

NodeStore::Arrays NodeStore::take() {
  Arrays arrays{std::move(words_), std::move(parents_), std::move(ends_), size_};
  size_ = 0;
  capacity_ = 0;
  return arrays;
}

}  // namespace stackpack::dag
