#pragma once

#include <cstddef>
#include <vector>

#include "io/byte_source.h"
#include "symbolize/elf_identity.h"

namespace stackpack::symbolize {

/// The file with those sections decompressed that are compressed with zstd, for libraries that do
/// not know zstd; empty when there is none, the file is damaged, or it would be larger than `most`.
std::vector<std::byte> without_zstd_sections(io::ByteSource& file, const ElfIdentity& elf,
                                             std::size_t most);

}  // namespace stackpack::symbolize
