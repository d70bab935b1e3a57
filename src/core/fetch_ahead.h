#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stackpack::core {

/// Before an item is added to memory that another thread read last: asks for the place of one that
/// comes later. It lies in the caches of that thread's processor, and writing to it would wait.
template <typename T>
void fetch_ahead(const std::vector<T>& items) {
  constexpr std::size_t kAheadBytes = 1024;
  const std::size_t place = std::min(items.size() + kAheadBytes / sizeof(T), items.capacity());
  __builtin_prefetch(items.data() + place, 1);
}

}  // namespace stackpack::core
