// Samples by function and offset, as BOLT takes them of captures without branches.
//
// BOLT knows functions by the symbols of a binary, and calls a local one NAME/NUMBER, by how many
// local symbols of that name come before it in the order of addresses.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbolize/elf_identity.h"
#include "symbolize/symbol_table.h"

namespace stackpack::app {

/// Samples of one image by offset in its file.
using ImageSamples = std::map<std::uint64_t, std::uint64_t>;

/// A function as BOLT has it: up to the next one, since padding belongs to it.
struct BoltFunction {
  std::uint64_t address = 0;
  std::uint64_t end = 0;
  std::string name;
};

/// The functions of a binary, by address. Without those that only unwind tables know, and stubs of
/// the procedure linkage table.
std::vector<BoltFunction> bolt_functions(const symbolize::SymbolTable& symbols);

struct BoltSamples {
  std::string text;
  std::uint64_t unplaced = 0;  ///< samples at offsets that no segment has
  std::uint64_t outside = 0;   ///< samples in no function of the binary
};

/// The profile, as `perf2bolt -nl` writes it: `no_lbr EVENT:...`, then lines `1 NAME OFFSET COUNT`.
BoltSamples bolt_samples(const ImageSamples& samples, std::span<const std::string> events,
                         const symbolize::ElfIdentity& elf, const symbolize::SymbolTable& symbols);

/// Where samples were: the instructions at the leaves of their callstacks.
struct LeafSamples {
  std::map<std::uint32_t, ImageSamples> images;  ///< by the row of modules that stands for each
  std::vector<std::string> events;               ///< names, in order
  std::uint64_t without_image = 0;
};

/// Counts the samples that the filter lets through, of all events unless it names some; events that
/// count the same are one. Memory: distinct leaves in images, and a million groups of samples with
/// one callstack at a time. Errors: those of the reader; kUsage: as
/// SampleSelection.
Result<LeafSamples> leaf_samples(const Reader& reader, const SampleFilter& filter);

}  // namespace stackpack::app
