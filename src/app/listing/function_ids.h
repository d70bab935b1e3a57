// What functions are called in every file that has them.
#pragma once

#include <string>
#include <string_view>

#include "stackpack/symbols.h"

namespace stackpack::app {

/// The id of a function as query::FunctionPattern takes it after `id:`: 16 hexadecimal digits.
/// `module`: the file name of the image, as reports have it; may be empty.
std::string function_id(std::string_view name, std::string_view module);

/// The same of the function that has the code at a location. Code that a process made at run time
/// has the id of a function without an image.
std::string function_id(const CodeLocation& location);

/// The id of a callstack by the names of its functions: the same in every file.
std::string callstack_id(std::string_view names);

}  // namespace stackpack::app
