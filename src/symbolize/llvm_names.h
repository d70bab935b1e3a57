// Names that a part of LLVM reads, where the program was built with it. What they take is not
// bounded here: what a name may become is the caller's to know.
#pragma once

namespace stackpack::symbolize {

/// Whether the program was built with what it takes.
[[nodiscard]] bool reads_llvm_names();

/// The readable form of a name of Microsoft's compiler, for std::free; null for any other name, and
/// where !reads_llvm_names().
[[nodiscard]] char* llvm_microsoft_name(const char* linked);

/// The same of a name of the other compilers for C++.
[[nodiscard]] char* llvm_itanium_name(const char* linked);

}  // namespace stackpack::symbolize
