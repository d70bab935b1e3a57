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

/// How the names of an image are read: by its PDB, or as an ELF file. `mappings`: all of the image.
/// The places must outlive it.
ReadPlan plan_image(const Module& module, std::span<const symbolize::ImageMapping> mappings,
                    const symbolize::SymbolPlaces& places);

/// How addresses of the kernel are named by its image with that build id.
ReadPlan plan_kernel_image(const Module& kernel, const KernelReference& reference,
                           const symbolize::SymbolPlaces& places);

}  // namespace stackpack::app
