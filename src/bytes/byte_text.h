#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace stackpack::bytes {

/// The bytes as characters, NUL and all.
inline std::string_view text_of(std::span<const std::byte> bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes to chars, nothing else
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace stackpack::bytes
