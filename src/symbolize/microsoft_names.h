#pragma once

namespace stackpack::symbolize {

/// Whether the program was built with what it takes.
extern const bool kMicrosoftNames;

/// The readable form of a name of Microsoft's compiler, for std::free; null for any other name, and
/// where !kMicrosoftNames. Bounds nothing: what a name may become is the caller's to know.
[[nodiscard]] char* microsoft_name(const char* linked);

}  // namespace stackpack::symbolize
