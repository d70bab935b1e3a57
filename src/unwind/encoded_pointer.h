#pragma once

#include <cstdint>
#include <optional>

#include "bytes/byte_cursor.h"

namespace stackpack::unwind {

/// A pointer that is not there.
inline constexpr std::uint8_t kPointerOmitted = 0xFF;
/// Eight bytes, as they are.
inline constexpr std::uint8_t kPointerAbsolute = 0x00;

/// What pointers of a section are relative to.
struct PointerBases {
  std::uint64_t section = 0;  ///< address of the section's first byte
  std::uint64_t data = 0;     ///< address of .eh_frame_hdr, for pointers inside of it
};

/// Reads a pointer in one of the encodings DW_EH_PE_*.
/// Result: nothing for an encoding that is not known or needs the memory of a process. The cursor
///         shows whether the bytes were there.
std::optional<std::uint64_t> read_encoded(bytes::ByteCursor& in, std::uint8_t encoding,
                                          const PointerBases& bases);

/// The same without what the pointer is relative to: for sizes.
std::optional<std::uint64_t> read_encoded_size(bytes::ByteCursor& in, std::uint8_t encoding);

}  // namespace stackpack::unwind
