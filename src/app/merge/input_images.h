#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/merge/image_table.h"
#include "stackpack/model.h"

namespace stackpack::app {

/// What a module of an input is in a merge.
struct InputImage {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t image = kNone;  ///< kNone: no file; its addresses stay
  std::uint64_t shift = 0;      ///< offset in the merge = offset in the file - shift, modulo 2^64
};

/// The images of all modules of an input, which are added to `images`. `metadata` say where the
/// kernel was; `merged`: the input is a merged file, whose images begin at their bases.
std::vector<InputImage> input_images(std::span<const Module> modules,
                                     std::span<const MetadataEntry> metadata, bool merged,
                                     ImageTable& images);

}  // namespace stackpack::app
