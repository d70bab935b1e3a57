#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stackpack::bench {

/// Compresses with plain Xpress ([MS-XCA] 2.3), greedily: enough to give a reader's decompressor
/// the work that a real capture gives it. Appends to `out`, which is emptied first.
void xpress_compress(std::span<const std::byte> content, std::vector<std::byte>& out);

}  // namespace stackpack::bench
