#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "spk/format/directory.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Writes the .spk file `input` with other names: all sections but those of names as they are, byte
/// by byte, and in the summary a fingerprint that stands for the names, too: the conversion's, and
/// a digest of the names. The caller commits the output.
/// Errors: those of opening a .spk file; kCorrupt where a checksum is wrong; kIo.
Status write_renamed(const std::string& input, const Names& names, io::OutputFile& out);

/// Whether a section has names of code.
bool is_section_of_names(const spk::SectionRecord& section);

/// The content of a summary with another fingerprint; what this version does not know stays.
/// Errors: kCorrupt.
Result<std::vector<std::byte>> with_fingerprint(
    std::span<const std::byte> summary,
    const std::function<std::string(const std::string&)>& renew);

}  // namespace stackpack::app
