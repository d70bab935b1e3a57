#pragma once

#include <cstdint>

// libelf's handle.
struct Elf;

namespace stackpack::symbolize {

/// Gives the sections of a kernel module the addresses of ModuleLayout, its symbols and debug
/// information with them: what is read afterwards is that of a linked file.
/// `file`: in memory that may be changed. Debug information of a machine whose relocations are not
/// known is taken away, and counted.
/// Parts that cannot be read, or not to the end. Errors: std::bad_alloc, also where the library
/// lacks memory.
std::uint64_t place_module(Elf* file);

}  // namespace stackpack::symbolize
