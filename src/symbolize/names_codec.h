#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// Names of one owner on their way from the process that read them: texts, functions, inlined
/// calls, lines. Owner, place and life are not part of it.
std::vector<std::byte> encode_names(const Names& names);

/// What `encode_names` wrote. The process that wrote it is not trusted: every number is checked,
/// and ranges are of an image.
/// Errors: kCorrupt, kLimit.
Result<Names> decode_names(std::span<const std::byte> bytes, const SymbolLimits& limits);

}  // namespace stackpack::symbolize
