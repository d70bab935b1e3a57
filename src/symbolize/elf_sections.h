#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/byte_source.h"
#include "symbolize/elf_identity.h"

namespace stackpack::symbolize {

/// The file with those sections decompressed that are compressed with zstd, for libraries that do
/// not know zstd; empty when there is none, the file is damaged, or it is larger than `most`.
/// Sections that are damaged, or would make it larger than `most`, stay as they are, which is added
/// to `damaged`.
std::vector<std::byte> without_zstd_sections(io::ByteSource& file, const ElfIdentity& elf,
                                             std::size_t most, std::uint64_t& damaged);

}  // namespace stackpack::symbolize
