#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::symbolize {

/// Whether a file of that name is a kernel module, packed or not: `x.ko`, `x.ko.xz`.
bool is_module_file(std::string_view path);

/// The path without the ending of a packed file: of `x.ko.xz` `x.ko`.
std::string_view without_packing(std::string_view path);

/// Whether an open file is packed by gzip, zstd or xz; looks at its first bytes alone.
bool is_packed_file(int descriptor);

/// The content of a packed file, at most kMostUnpackedBytes. Errors: kCorrupt, kLimit, kIo;
/// std::bad_alloc.
Result<std::vector<std::byte>> unpack_file(int descriptor);

}  // namespace stackpack::symbolize
