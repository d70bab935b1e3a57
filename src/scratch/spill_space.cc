#include "scratch/spill_space.h"

#include <algorithm>

namespace stackpack::scratch {

void SpillSpace::fail(const Error& error) {
  if (status_) {
    status_ = error;
  }
}

std::uint32_t SpillSpace::take_page() {
  if (!free_.empty()) {
    const std::uint32_t page = free_.back();
    free_.pop_back();
    std::fill_n(bytes_at(page, 0, true), kPageBytes, std::byte{0});
    return page;
  }
  if (page_count_ == ~std::uint32_t{0}) {
    fail({ErrorCode::kLimit, kNoOffset, "scratch tables are full"});
    return 0;
  }
  return page_count_++;
}

}  // namespace stackpack::scratch
