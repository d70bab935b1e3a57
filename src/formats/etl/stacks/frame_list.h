#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

/// All whole pointers that `bytes` holds, as 64-bit addresses. A rest shorter than a pointer is
/// left out.
inline void read_frames(std::span<const std::byte> bytes, std::uint8_t pointer_size,
                        std::vector<std::uint64_t>& frames) {
  bytes::ByteCursor in(bytes, 0);
  const std::size_t count = bytes.size() / pointer_size;
  if (pointer_size == 8) {
    in.read_u64_array(count, frames);
    return;
  }
  frames.resize(count);
  for (std::uint64_t& frame : frames) {
    frame = in.read<std::uint32_t>();
  }
}

}  // namespace stackpack::etl
