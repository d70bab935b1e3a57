#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/symbolize/image_names.h"
#include "stackpack/filter.h"
#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbols/range_index.h"

namespace stackpack::app {

/// Addresses of callstacks and of branches that lie in one image, ascending, each once; those of
/// callers are of the byte before.
struct AskedImage {
  std::uint32_t module = 0;  ///< the first row of the image
  std::vector<std::uint64_t> offsets;
  /// Those of `offsets` that are of callers whose own callers lie in images, too. A walk by frame
  /// pointers through code that has none makes up the others.
  std::vector<std::uint64_t> callers;
};

/// Those that lie in no image, or in memory that has no file: of code made at run time.
struct AskedProcess {
  std::uint32_t pid = kUnknownId;
  std::uint64_t life_ns = kUnknownTime;
  std::vector<std::uint64_t> addresses;
};

/// What a file's callstacks and branches have addresses in.
struct AskedAddresses {
  std::vector<AskedImage> images;       ///< by module
  std::vector<AskedProcess> processes;  ///< by pid, then life
  std::vector<std::uint64_t> kernel;    ///< addresses in no image but the kernel
};

/// `modules_as_kernel`: addresses in modules of the kernel are in AskedAddresses::kernel.
/// `names`: in place of those of the file; they say which frames were interrupted, see
/// Symbols::use_of.
/// `filter`: callstacks of these samples alone.
/// Memory: some 50 bytes per distinct (process, address).
Result<AskedAddresses> asked_addresses(const Reader& reader, bool modules_as_kernel,
                                       const SampleFilter& filter,
                                       std::optional<Names> names = std::nullopt);

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
