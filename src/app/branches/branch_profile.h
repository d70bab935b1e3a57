// Profiles of branches as compilers and linkers take them, for one binary.
//
// What an address is differs from tool to tool; a .spk file has offsets in the file:
// - perf2bolt -pa: the virtual address in the ELF file;
// - create_llvm_prof --profiler=text: that minus the address of the first loaded segment;
// - llvm-profgen --unsymbolized-profile: that minus the page of the first executable segment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/branches/image_branches.h"
#include "symbolize/elf_identity.h"

namespace stackpack::app {

enum class BranchProfile : std::uint8_t {
  kBolt,         ///< `perf2bolt -pa`, of LLVM 11 and later
  kAutofdo,      ///< `create_llvm_prof --profiler=text`
  kLlvmProfgen,  ///< `llvm-profgen --unsymbolized-profile`
  // Those that need symbols of the binary, too: bolt_samples.h, propeller_profile.h.
  kBoltNoLbr,       ///< `llvm-bolt -data`, as `perf2bolt -nl` writes it: of samples, not branches
  kPropeller,       ///< `clang -fbasic-block-sections=list=`: order of basic blocks
  kPropellerOrder,  ///< `ld.lld --symbol-ordering-file=`: order of functions to go with it
};

/// As the command line spells them, in the order of the enumeration.
std::span<const std::string_view> branch_profile_names();
std::string_view branch_profile_name(BranchProfile profile);
std::optional<BranchProfile> branch_profile_of(std::string_view name);

/// What the tool itself does when it reads perf.data.
BranchRules default_rules(BranchProfile profile);

struct BranchText {
  std::string text;
  std::uint64_t unplaced = 0;  ///< branches and ranges at offsets that no segment of the file has
  // Of formats that know functions:
  std::uint64_t outside = 0;  ///< samples, or branches and ranges, in no function of the file
  std::uint64_t unnamed = 0;  ///< functions whose name others have, too, or that have none
};

/// The profile of a format that needs addresses alone. `elf` is the binary that the offsets are of;
/// none where it has no segments.
std::optional<BranchText> branch_profile_text(BranchProfile profile, const ImageBranches& image,
                                              const symbolize::ElfIdentity& elf);

}  // namespace stackpack::app
