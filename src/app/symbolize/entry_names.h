#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "app/symbolize/image_names.h"
#include "stackpack/names.h"
#include "symbols/range_index.h"

namespace stackpack::app {

/// Whose addresses were asked for: ascending.
struct AskedOwner {
  symbols::RangeOwner owner;
  std::span<const std::uint64_t> addresses;
};

/// The names of a file and those that were found, where these have some that say which frames were
/// interrupted (symbols::entry_kind), so that other addresses are to be asked for; else nothing.
/// `answers[i]` is about `parts[i]`.
std::optional<Names> names_with_entries(const Names& old, std::span<const std::uint32_t> first_rows,
                                        std::span<const AskedOwner> parts,
                                        std::span<const NamingAnswer> answers);

}  // namespace stackpack::app
