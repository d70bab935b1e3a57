#pragma once

#include "io/byte_source.h"
#include "stackpack/result.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"
#include "symbolize/windows/pe_image.h"

namespace stackpack::symbolize {

/// Whether an image has code of methods that was compiled ahead (ReadyToRun), and says which.
/// Damaged ones, parts of a composite image and those of before .NET Core do not.
bool has_precompiled_methods(io::ByteSource& file, const PeImage& image);

/// Adds rows with owner kImage, module 0 and source kClr for precompiled methods that have an
/// address of the request, an RVA: "Namespace.Type.Method", without parameters and without the
/// types that a generic one was compiled for. A part of a method (a handler of exceptions) is a row
/// of its own with the same name. Errors: kUnsupported for images without such methods; kCorrupt,
/// kTruncated, kIo.
Status read_precompiled_methods(io::ByteSource& file, const PeImage& image,
                                const SymbolRequest& request, NameCollector& names);

}  // namespace stackpack::symbolize
