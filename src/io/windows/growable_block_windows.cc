#include <algorithm>
#include <cstring>

#include <windows.h>

#include "io/growable_block.h"

namespace stackpack::io {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLarge = std::uint64_t{2} << 20;
constexpr std::uint64_t kMost = std::uint64_t{1} << 46;  // the address space has 47 bits
// Address space that a block gets for each byte it has: it grows in place until that is used.
constexpr std::uint64_t kRoomToGrow = 8;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Address space after the block that is its own and not in use.
std::uint64_t room_after(void* data, std::uint64_t capacity) {
  MEMORY_BASIC_INFORMATION region{};
  void* const end = static_cast<std::byte*>(data) + capacity;
  const bool own = ::VirtualQuery(end, &region, sizeof region) != 0 &&
                   region.AllocationBase == data && region.State == MEM_RESERVE;
  return own ? region.RegionSize : 0;
}

}  // namespace

bool GrowableBlock::reserve(std::uint64_t bytes) {
  if (bytes <= capacity_) {
    return true;
  }
  if (bytes > kMost) {
    return false;
  }
  std::uint64_t wanted = std::max(bytes, capacity_ + capacity_ / 2);
  wanted = round_up(wanted, wanted < kLarge ? kPage : kLarge);
  if (data_ != nullptr && wanted - capacity_ <= room_after(data_, capacity_)) {
    if (::VirtualAlloc(static_cast<std::byte*>(data_) + capacity_, wanted - capacity_, MEM_COMMIT,
                       PAGE_READWRITE) == nullptr) {
      return false;
    }
    capacity_ = wanted;
    return true;
  }
  void* const space = ::VirtualAlloc(nullptr, wanted * kRoomToGrow, MEM_RESERVE, PAGE_READWRITE);
  if (space == nullptr) {
    return false;
  }
  if (::VirtualAlloc(space, wanted, MEM_COMMIT, PAGE_READWRITE) == nullptr) {
    ::VirtualFree(space, 0, MEM_RELEASE);
    return false;
  }
  if (data_ != nullptr) {
    std::memcpy(space, data_, capacity_);
    ::VirtualFree(data_, 0, MEM_RELEASE);
  }
  data_ = space;
  capacity_ = wanted;
  return true;
}

void GrowableBlock::truncate(std::uint64_t bytes) {
  const std::uint64_t kept = round_up(bytes, kPage);
  if (kept == 0) {
    release();
  } else if (kept < capacity_) {
    ::VirtualFree(static_cast<std::byte*>(data_) + kept, capacity_ - kept, MEM_DECOMMIT);
    capacity_ = kept;
  }
}

void GrowableBlock::release() {
  if (data_ != nullptr) {
    ::VirtualFree(data_, 0, MEM_RELEASE);
    data_ = nullptr;
    capacity_ = 0;
  }
}

}  // namespace stackpack::io
