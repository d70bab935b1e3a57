#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Unpacks the capture `member` of a zip archive, or the only one when `member` is empty, into a
/// nameless file in `directory`. A null pointer when `archive` is no zip archive.
/// Errors: kUsage when the choice is open or the name is not there; those of codec::ZipArchive.
Result<std::unique_ptr<io::ByteSource>> open_member(io::ByteSource& archive,
                                                    const std::string& member,
                                                    const std::string& directory);

/// Names of the captures in a zip archive; empty when `archive` is none.
Result<std::vector<std::string>> list_members(io::ByteSource& archive);

}  // namespace stackpack::app
