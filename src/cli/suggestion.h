#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackpack::cli {

/// The candidate that `word` was probably meant to be; empty when none is near. Near means at most
/// a third of its letters inserted, removed, replaced or swapped with their neighbour.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// `; did you mean X?`, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// What does here what a command of perf or pprof does: `stackpack top shows ...`; empty for other
/// words.
std::string_view command_for(std::string_view foreign_word);

/// `no function 'TEXT' occurs`, and what may have been meant: names that have the text in them, or
/// else one that is spelled alike. `names`: those that occur.
std::string no_such_function(const std::string& text, const std::vector<std::string>& names);

}  // namespace stackpack::cli
