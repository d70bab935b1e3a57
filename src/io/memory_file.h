#pragma once

#include <cstddef>
#include <span>

#include "io/descriptor.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// A nameless file in memory with these bytes; it goes with its last descriptor. Errors: kIo.
Result<Descriptor> make_memory_file(std::span<const std::byte> bytes);

/// A nameless file in memory with the code that this machine's kernel maps into every process
/// (`[vdso]`), which is an ELF file that no directory has.
/// Errors: kNotFound where there is none; kIo.
Result<Descriptor> open_running_vdso();

}  // namespace stackpack::io
