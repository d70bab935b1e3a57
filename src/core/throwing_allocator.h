#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace stackpack::core {

/// Memory for RapidJSON, whose own allocator does not look at what malloc() says: here memory that
/// runs out is std::bad_alloc, as everywhere.
class ThrowingAllocator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): names which RapidJSON asks for
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return size != 0 ? ::operator new(size) : nullptr; }

  void* Realloc(void* block, std::size_t old_size, std::size_t new_size) {
    void* const fresh = Malloc(new_size);
    if (block != nullptr && fresh != nullptr) {
      std::memcpy(fresh, block, std::min(old_size, new_size));
    }
    Free(block);
    return fresh;
  }

  static void Free(void* block) noexcept { ::operator delete(block); }
  // NOLINTEND(readability-identifier-naming)

  bool operator==(const ThrowingAllocator& /*other*/) const { return true; }
  bool operator!=(const ThrowingAllocator& /*other*/) const { return false; }
};

}  // namespace stackpack::core
