#pragma once

#include <string>

#include "stackpack/model.h"

namespace stackpack::app {

/// The identity of an image as listings show it and exports write it: hex of a GNU build id, GUID
/// and age of a PDB in the form that symbol servers take, or nothing.
std::string listed_build_id(const Module& module);

}  // namespace stackpack::app
