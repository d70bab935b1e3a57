#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "stackpack/result.h"
#include "symbolize/pdb/msf_file.h"

namespace stackpack::symbolize {

/// Names of inlined functions, with their class or namespace, by the numbers that inline sites
/// have. A number without a readable record is left out.
///
/// `items`: ascending, distinct.
/// Cost:   two passes over the stream of items, one over that of types, up to the highest number.
/// Memory: the names.
/// Errors: kIo; kCorrupt when a record has no length.
Result<std::map<std::uint32_t, std::string>> inlinee_names(const MsfFile& file,
                                                           std::span<const std::uint32_t> items);

}  // namespace stackpack::symbolize
