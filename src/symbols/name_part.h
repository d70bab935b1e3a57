#pragma once

#include <cstdint>

namespace stackpack::symbols {

/// How much of a name is kept; each has all that the one before it has.
enum class NameDetail : std::uint8_t {
  kShort,
  kParameters,    ///< and parameters
  kOwnArguments,  ///< and arguments of the function itself, where it is a template
  kArguments,     ///< and arguments of templates and generic types
  kWhole,
};

/// Bytes of a name that are kept.
struct NamePart {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  /// Without all that stands before it, what follows is a shorter name of the same function.
  bool starts = false;

  friend bool operator==(const NamePart&, const NamePart&) = default;
};

}  // namespace stackpack::symbols
