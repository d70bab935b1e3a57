#pragma once

#include <memory>

#include "codec/zip_directory.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::codec {

/// The content of a member as a stream, which is checked against the size and the checksum that the
/// archive claims when the last byte has been read. `archive` must outlive it.
/// Errors: kUnsupported for encryption or a method that is not read here; those of
///         find_zip_content(). Of read(): kCorrupt; those of `archive`.
Result<std::unique_ptr<io::ByteSource>> open_zip_member(io::ByteSource& archive,
                                                        const ZipEntry& member);

}  // namespace stackpack::codec
