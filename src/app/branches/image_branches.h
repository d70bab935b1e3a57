#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stackpack/branches.h"
#include "stackpack/model.h"
#include "symbolize/elf_identity.h"

namespace stackpack::app {

/// Which branches and ranges a profile takes: consumers differ.
struct BranchRules {
  /// Ranges between the two newest branches of a stack, which are the same, when they are longer
  /// than kMostRepeated bytes: some processors give the newest branch twice.
  bool head_duplicates = true;
  bool wrong_path = true;           ///< what a processor speculated about and gave up
  std::uint64_t longest_range = 0;  ///< in bytes; longer ones are taken for damage; 0: none is

  static constexpr std::uint64_t kMostRepeated = 0x1000;
};

/// The branches of one image, of all events, by offset in its file.
struct ImageBranches {
  struct Sums {
    std::uint64_t count = 0;
    std::uint64_t mispredicted = 0;
  };
  /// An end outside is none.
  using Ends = std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>>;
  std::map<Ends, Sums> edges;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> ranges;

  /// Times that a branch of the image was taken, and bytes of code that some range covers.
  [[nodiscard]] std::uint64_t taken() const;
  [[nodiscard]] std::uint64_t covered_bytes() const;
};

/// Of each row of modules the row that stands for its image, as in branches.h.
std::vector<std::uint32_t> image_rows(std::span<const Module> modules);

/// All images that branches have, by the row of modules that stands for each. One pass.
std::map<std::uint32_t, ImageBranches> branches_by_image(const Branches& branches,
                                                         const BranchRules& rules);

/// Branches and ranges of an image at addresses of its file; an end outside of the image is none.
struct PlacedBranches {
  using Ends = ImageBranches::Ends;
  std::map<Ends, ImageBranches::Sums> edges;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> ranges;
  std::uint64_t unplaced = 0;  ///< branches and ranges at offsets that no segment has
};

/// `origin`: what is taken off addresses.
PlacedBranches place_branches(const ImageBranches& image, const symbolize::ElfIdentity& elf,
                              std::uint64_t origin);

}  // namespace stackpack::app
