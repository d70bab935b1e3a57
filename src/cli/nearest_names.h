#pragma once

#include <string>
#include <vector>

namespace stackpack::cli {

/// `no function 'TEXT' occurs`, and what may have been meant: names that have the text in them, or
/// else one that is spelled alike. `names`: those that occur.
std::string no_such_function(const std::string& text, const std::vector<std::string>& names);

}  // namespace stackpack::cli
