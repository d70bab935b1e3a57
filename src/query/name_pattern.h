#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stackpack::query {

/// Whether `name` fits `pattern`, in which `*` stands for any characters and `?` for any one byte.
/// Other characters stand for themselves, brackets included: names such as [vdso] have them.
/// Cost: proportional to the name; for each 64 bytes between two stars once more.
bool fits_pattern(std::string_view name, std::string_view pattern);

/// Whether `name` fits one of the patterns.
bool fits_any(std::string_view name, const std::vector<std::string>& patterns);

}  // namespace stackpack::query
