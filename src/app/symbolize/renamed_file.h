#pragma once

#include <string>

#include "io/output_file.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Writes the .spk file `input` with other names: all sections but those of names as they are, byte
/// by byte, and in the summary a fingerprint that stands for the names, too: the conversion's, and
/// a digest of the names. The caller commits the output.
/// Errors: those of opening a .spk file; kCorrupt where a checksum is wrong; kIo.
Status write_renamed(const std::string& input, const Names& names, io::OutputFile& out);

}  // namespace stackpack::app
