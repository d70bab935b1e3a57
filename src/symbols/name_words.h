// The words that names of functions have besides names: of compilers, of languages.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "symbols/name_brackets.h"

namespace stackpack::symbols {

// What stands before the name that it is about.
inline constexpr std::array<std::string_view, 13> kAbout = {"non-virtual thunk to ",
                                                            "virtual thunk to ",
                                                            "covariant return thunk to ",
                                                            "vtable for ",
                                                            "VTT for ",
                                                            "typeinfo for ",
                                                            "typeinfo name for ",
                                                            "guard variable for ",
                                                            "TLS init function for ",
                                                            "TLS wrapper function for ",
                                                            "transaction clone for ",
                                                            "construction vtable for ",
                                                            "initializer for "};
inline constexpr std::string_view kUnnamedOfMicrosoft = "`anonymous namespace'::";
// What compilers add to the name of a part of a function.
inline constexpr std::array<std::string_view, 10> kClones = {
    "constprop", "isra",       "part",  "cold", "lto_priv",
    "llvm",      "localalias", "clone", "warm", "__uniq"};
// Types that are written with brackets: what stands in these is no parameter.
inline constexpr std::array<std::string_view, 7> kTypeWords = {
    "decltype", "const", "immutable", "shared", "inout", "__typeof__", "typeof"};

// What may stand after parameters, after a blank each; `const` comes in all of these languages.
inline constexpr std::array<std::string_view, 25> kQualifiers = {
    "const",  "volatile",  "restrict", "__restrict", "__ptr64",   "noexcept", "&&",
    "&",      "pure",      "nothrow",  "@nogc",      "@safe",     "@trusted", "@system",
    "@live",  "@property", "return",   "scope",      "immutable", "shared",   "inout",
    "throws", "async",     "[clone",   "(."};
// And what the rest belongs to.
inline constexpr std::array<std::string_view, 2> kTails = {"->", "requires"};

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The words are those of `words` as a whole: "constant" is not "const".
template <std::size_t N>
std::string_view word_of(const std::array<std::string_view, N>& words, std::string_view text) {
  const auto word = std::find_if(words.begin(), words.end(), [&](std::string_view known) {
    return text.starts_with(known) &&
           (!is_word(known.back()) || text.size() == known.size() || !is_word(text[known.size()]));
  });
  return word == words.end() ? std::string_view() : *word;
}

}  // namespace stackpack::symbols
