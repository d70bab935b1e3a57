#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stackpack::cli {

/// The candidate that `word` was probably meant to be; empty when none is near. Near means at most
/// a third of its letters inserted, removed, replaced or swapped with their neighbour.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// `; did you mean X?`, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace stackpack::cli
