#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "app/branches/image_branches.h"
#include "symbolize/elf_identity.h"

namespace stackpack::app {

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
