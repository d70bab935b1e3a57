#pragma once

namespace stackpack::symbolize {

/// Whether the program was built with what it takes.
[[nodiscard]] bool reads_microsoft_names();

/// The readable form of a name of Microsoft's compiler, for std::free; null for any other name, and
/// where !reads_microsoft_names(). Bounds nothing: what a name may become is the caller's to know.
[[nodiscard]] char* microsoft_name(const char* linked);

}  // namespace stackpack::symbolize
