#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/symbolize/image_names.h"
#include "stackpack/model.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// A symbol of the recorded kernel and the address that it had: what says how far the kernel was
/// moved when it was loaded.
struct KernelReference {
  std::string symbol;  ///< empty: not recorded
  std::uint64_t address = 0;
};

/// What the capture says of where an image was mapped and what was called from it.
struct ImageTraces {
  std::span<const symbolize::ImageMapping> mappings;  ///< all of them
  std::span<const std::uint64_t> callers;             ///< see AskedImage::callers
};

/// How the names of an image are read: by its PDB, or as an ELF file. A file that its path alone
/// says to be the image is not believed where the callers speak against it. The places must outlive
/// the plan.
ReadPlan plan_image(const Module& module, const ImageTraces& traces,
                    const symbolize::SymbolPlaces& places);

/// How addresses of the kernel are named by its image with that build id.
ReadPlan plan_kernel_image(const Module& kernel, const KernelReference& reference,
                           const symbolize::SymbolPlaces& places);

}  // namespace stackpack::app
