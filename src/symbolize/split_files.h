#pragma once

#include <string>
#include <vector>

#include "io/descriptor.h"

namespace stackpack::symbolize {

/// Where .dwo files, which debug information names by their paths, may be read from.
struct SplitFolders {
  std::vector<std::string> folders;  ///< these and what is below
  bool anywhere = false;             ///< also where the compiler put them
};

/// The folder of an open file, as the system names it; empty when it says nothing.
std::string folder_of_file(int descriptor);

/// Opens a file of split debug information that a reader of untrusted files asks for: a regular
/// file whose name ends in .dwo, in one of those places, that begins as an ELF file does. Nothing
/// for any other, whatever it is.
io::Descriptor open_split_file(const std::string& path, const SplitFolders& where);

}  // namespace stackpack::symbolize
