#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/symbols.h"

namespace stackpack::app {

/// How functions are called where people read.
enum class FunctionNames : std::uint8_t {
  kShort,    ///< without parameters, template arguments, result types
  kFull,     ///< as the source has them
  kLinkage,  ///< as the linker has them
};

/// A function as a row of a table names it. UTF-8.
struct FunctionTitle {
  std::string_view name;
  std::string_view module;  ///< `module!` stands before the name; empty: nothing
  std::string_view place;   ///< ` at place` behind it; empty: nothing
};

inline constexpr std::size_t kAnyWidth = ~std::size_t{0};

/// Columns of a terminal that a text takes, or a few less: what is wide in some fonts counts as
/// two.
std::size_t columns_of(std::string_view text);

/// At most `width` columns of a text, cut between characters, `...` for the rest.
std::string cut_to(std::string_view text, std::size_t width);

/// The texts of some rows, in their order. No two that differ in name, module or place have one
/// text, and none takes more columns than `width` (of 16 or more): kShort keeps parameters or
/// arguments where names would be alike without them; namespaces go where there is no room for
/// them;
/// `#2`, `#3` stands behind what is alike all the same.
std::vector<std::string> function_titles(std::span<const FunctionTitle> titles, FunctionNames names,
                                         std::size_t width = kAnyWidth);

// What functions are called in every file that has them.

/// The id of a function as query::FunctionPattern takes it after `id:`: 16 hexadecimal digits.
/// `module`: the file name of the image, as reports have it; may be empty.
std::string function_id(std::string_view name, std::string_view module);

/// The same of the function that has the code at a location. Code that a process made at run time
/// has the id of a function without an image.
std::string function_id(const CodeLocation& location);

/// The id of a callstack by the names of its functions: the same in every file.
std::string callstack_id(std::string_view names);

}  // namespace stackpack::app
