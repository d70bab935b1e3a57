#pragma once

#include <cstddef>
#include <span>

#include "io/descriptor.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// A nameless file in memory with these bytes; it goes with its last descriptor. Errors: kIo.
Result<Descriptor> make_memory_file(std::span<const std::byte> bytes);

}  // namespace stackpack::io
