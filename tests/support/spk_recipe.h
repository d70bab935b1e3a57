// A .spk file as the contents of its blocks: what a mutator wants to change, without the checksums,
// sizes and compression that would turn every change into "damaged".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "spk/format/block_index.h"
#include "spk/format/directory.h"

namespace stackpack::test {

struct SpkRecipe {
  struct Section {
    spk::SectionRecord record;                   ///< kind, flags and items count; the rest is made
    std::vector<std::vector<std::byte>> blocks;  ///< contents
  };
  std::vector<Section> sections;
  std::vector<spk::PageEntry> pages;           ///< stacks count; the rest is made
  std::vector<spk::SampleBlockEntry> samples;  ///< samples and times count
};

/// Nothing when the frame of the file is damaged or its contents are large.
std::optional<SpkRecipe> take_recipe(std::span<const std::byte> file);

/// A file with right sizes and checksums, whatever the contents are.
std::vector<std::byte> cook(SpkRecipe recipe);

/// Changes some bytes in place; may grow or shrink them.
using ChangeBytes = std::function<void(std::vector<std::byte>& bytes)>;

/// Changes the content of a block, or what directory or index say about one.
void change_recipe(SpkRecipe& recipe, std::uint32_t seed, const ChangeBytes& change);

}  // namespace stackpack::test
