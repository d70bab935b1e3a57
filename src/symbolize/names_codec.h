#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// What the process that reads symbol files answers.
struct FoundNames {
  Names names;
  ReadLosses losses;

  friend bool operator==(const FoundNames&, const FoundNames&) = default;
};

/// Names of one owner on their way from the process that read them: losses, texts, functions,
/// inlined calls, lines, and aliases where there are any. Owner, place and life are not part of it.
std::vector<std::byte> encode_names(const FoundNames& found);

/// What `encode_names` wrote. The process that wrote it is not trusted: every number is checked,
/// and ranges are of an image.
/// Errors: kCorrupt, kLimit.
Result<FoundNames> decode_names(std::span<const std::byte> bytes, const SymbolLimits& limits);

}  // namespace stackpack::symbolize
