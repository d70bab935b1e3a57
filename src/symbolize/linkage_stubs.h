// Stubs of the linkage table, through which a program calls functions of other files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "symbolize/elf_symbols.h"

struct Elf;

namespace stackpack::symbolize {

/// Adds the stubs of an image to its symbols, which are settled, as `function@plt`, and settles
/// them again. What else there is in .plt is `.plt`, as in perf.
///
/// A stub jumps to what a slot holds, and a relocation says which function that is: so stubs are
/// told by their instructions, in whatever section and order a linker puts them. Read are those of
/// x86-64 and aarch64.
/// `names`: where names are kept; it must outlive the symbols.
/// Errors: std::bad_alloc.
void add_linkage_stubs(Elf* image, std::deque<std::string>& names, ElfSymbols& symbols);

}  // namespace stackpack::symbolize
