#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "symbols/name_brackets.h"

namespace stackpack::symbols {

/// The first of some words that a text begins with, or nothing.
template <std::size_t N>
std::string_view first_of(const std::array<std::string_view, N>& words, std::string_view text) {
  const auto word = std::find_if(words.begin(), words.end(),
                                 [&](std::string_view known) { return text.starts_with(known); });
  return word == words.end() ? std::string_view() : *word;
}

/// The parts of a name whose brackets belong together. May say nothing: `(x)` alone.
std::vector<NamePart> walk_name(std::string_view name, const NameBrackets& brackets,
                                NameDetail detail);

}  // namespace stackpack::symbols
