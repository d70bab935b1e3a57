#include <algorithm>
#include <memory>

#include <sys/mman.h>

#include "io/growable_block.h"

namespace stackpack::io {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kHugeFrom = kHugePage / 4;  // from here on a block will soon fill one

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::uint64_t distance(const void* from, const void* to) {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(to) -
                                    static_cast<const std::byte*>(from));
}

void* map_anonymous(std::uint64_t bytes) {
  void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}

// Maps `bytes`; on a huge-page border when they fill a huge page.
void* map_aligned(std::uint64_t bytes) {
  if (bytes < kHugePage) {
    return map_anonymous(bytes);
  }
  std::uint64_t space = bytes + kHugePage;
  void* const start = map_anonymous(space);
  if (start == nullptr) {
    return nullptr;
  }
  const void* const end = static_cast<std::byte*>(start) + space;
  void* aligned = start;
  std::align(kHugePage, bytes, aligned, space);
  if (const std::uint64_t before = distance(start, aligned); before > 0) {
    ::munmap(start, before);
  }
  std::byte* const block_end = static_cast<std::byte*>(aligned) + bytes;
  if (const std::uint64_t after = distance(block_end, end); after > 0) {
    ::munmap(block_end, after);
  }
  return aligned;
}

}  // namespace

bool GrowableBlock::reserve(std::uint64_t bytes) {
  if (bytes <= capacity_) {
    return true;
  }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46;  // the address space has 47 bits
  if (bytes > kMost) {
    return false;
  }
  std::uint64_t wanted = std::max(bytes, capacity_ + capacity_ / 2);
  wanted = round_up(wanted, wanted < kHugeFrom ? kPage : kHugePage);

  void* const target = map_aligned(wanted);
  if (target == nullptr) {
    return false;
  }
  if (data_ != nullptr) {
    // Moving onto the fresh mapping replaces it as a whole, and the result is one mapping again.
    if (::mremap(data_, capacity_, wanted, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED) {
      ::munmap(target, wanted);
      return false;
    }
  }
  if (wanted >= kHugePage) {
    ::madvise(target, wanted, MADV_HUGEPAGE);  // a hint: its failure changes nothing but speed
  }
  data_ = target;
  capacity_ = wanted;
  return true;
}

void GrowableBlock::truncate(std::uint64_t bytes) {
  const std::uint64_t kept = round_up(bytes, kPage);
  if (kept == 0) {
    release();
  } else if (kept < capacity_) {
    ::munmap(static_cast<std::byte*>(data_) + kept, capacity_ - kept);
    capacity_ = kept;
  }
}

void GrowableBlock::release() {
  if (data_ != nullptr) {
    ::munmap(data_, capacity_);
    data_ = nullptr;
    capacity_ = 0;
  }
}

}  // namespace stackpack::io
