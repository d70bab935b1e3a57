#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stackpack::bytes {

/// Appends the ASCII characters at the front of little-endian UTF-16, up to the first NUL or other
/// character; up to three may be left before that, or before the end.
/// Result: bytes of `wide` that were taken.
/// Cost: few instructions a character; the compiler makes vectors.
std::size_t append_wide_ascii(std::span<const std::byte> wide, std::string& text);

}  // namespace stackpack::bytes
