#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stackpack::symbolize {

/// Bytes that a packed symbol table or a packed kernel module may unpack to.
inline constexpr std::size_t kMostUnpackedBytes = std::size_t{256} << 20;

/// The content of an .xz stream; empty when it is damaged or longer than kMostUnpackedBytes.
/// Errors: std::bad_alloc.
std::string unpack_xz(std::span<const std::byte> packed);

}  // namespace stackpack::symbolize
