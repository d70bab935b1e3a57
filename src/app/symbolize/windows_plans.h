#pragma once

#include "app/symbolize/image_names.h"
#include "stackpack/model.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// How the names of an image are read that has a PDB's GUID and age: by that PDB, from a symbol
/// store or a folder of `places`, or beside the image below the root; else by the exported
/// functions of the image itself, if it is there and names that PDB.
ReadPlan plan_windows_image(const Module& module, const symbolize::SymbolPlaces& places);

}  // namespace stackpack::app
