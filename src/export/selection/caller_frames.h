#pragma once

#include <cstddef>
#include <span>

#include "stackpack/model.h"

namespace stackpack::exporting {

/// Whether frame `i` of a recorded callstack is a return address: the place to go on at when the
/// frame before it returns. The instruction that called lies before it, maybe in another function
/// when the callee never returns.
///
/// The others are exact: the leaf, and the frame at which another mode was entered (the first user
/// frame after those of the kernel), for that one was interrupted, not called.
inline bool is_return_address(std::span<const Frame> leaf_first, std::size_t i) {
  return i != 0 && leaf_first[i].mode == leaf_first[i - 1].mode;
}

}  // namespace stackpack::exporting
