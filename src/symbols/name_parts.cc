#include "symbols/name_parts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "symbols/name_brackets.h"
#include "symbols/name_walk.h"

namespace stackpack::symbols {

namespace {

bool has_word(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_word);
}

// Names that are lists or expressions, in which nothing is an argument.
constexpr std::array<std::string_view, 4> kLiteral = {"RegExp:", "type:", "go:", "type.."};
constexpr std::array<std::string_view, 5> kScriptTags = {
    "JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
constexpr std::array<std::string_view, 6> kPlaceBegins = {
    " /", " file:", " node:", " http", " evalmachine", " webpack"};

// Where a script's name ends that has its place behind it: "JS:*fib /srv/app.js:3:13".
std::optional<std::size_t> place_of_script(std::string_view name) {
  const std::size_t number = name.find_last_not_of("0123456789");
  if (number == std::string_view::npos || number + 1 == name.size() || name[number] != ':') {
    return std::nullopt;
  }
  std::size_t blank = name.rfind(' ');
  if (first_of(kScriptTags, name).empty()) {
    const bool one = blank != std::string_view::npos && name.find(' ') == blank && blank != 0;
    return one && number > blank + 1 ? std::optional(blank) : std::nullopt;
  }
  for (const std::string_view begin : kPlaceBegins) {
    blank = std::min(blank, name.find(begin));
  }
  return blank < number ? std::optional(blank) : std::nullopt;
}

// "ns::f::h0123456789abcdef": what rustc adds to tell instances apart.
std::string_view without_hash(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  constexpr std::string_view kBefore = "::h";
  if (name.size() <= kDigits + kBefore.size()) {
    return name;
  }
  const std::string_view digits = name.substr(name.size() - kDigits);
  const std::string_view before = name.substr(0, name.size() - kDigits);
  const bool hash = before.ends_with(kBefore) &&
                    digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hash ? before.substr(0, before.size() - kBefore.size()) : name;
}

std::vector<NamePart> whole_of(std::string_view name) {
  return name.empty() ? std::vector<NamePart>()
                      : std::vector<NamePart>{{0, static_cast<std::uint32_t>(name.size()), true}};
}

std::vector<NamePart> parts_of_script(std::string_view name, std::size_t place) {
  const std::size_t tag = name.find(':');
  // The tag, and marks of the tier in which it runs.
  const bool named = !first_of(kScriptTags, name).empty()
                         ? has_word(name.substr(tag + 1, place - tag - 1))
                         : place != 0;
  const auto size = static_cast<std::uint32_t>(place);
  if (named) {
    return {{0, size, true}};
  }
  const std::size_t path = name.rfind('/');
  const std::size_t file = path == std::string_view::npos || path < place ? place + 1 : path + 1;
  return {
      {0, size + 1, true},
      {static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(name.size() - file), false}};
}

}  // namespace

// Names that were cut have brackets that nothing closes; so have texts in which they mean something
// else.
std::vector<NamePart> name_parts(std::string_view name, NameDetail detail) {
  name = name.substr(0, std::numeric_limits<std::uint32_t>::max());
  if (detail == NameDetail::kWhole || !first_of(kLiteral, name).empty()) {
    return whole_of(name);
  }
  if (const std::optional<std::size_t> place = place_of_script(name)) {
    return parts_of_script(name, *place);
  }
  const NameBrackets brackets(name);
  if (brackets.any_open()) {
    return whole_of(name);
  }
  const std::string_view own = detail == NameDetail::kShort ? without_hash(name) : name;
  std::vector<NamePart> parts = walk_name(own, brackets, detail);
  const bool says = std::any_of(parts.begin(), parts.end(), [&](const NamePart& part) {
    return has_word(name.substr(part.begin, part.size));
  });
  return says ? parts : whole_of(name);
}

std::string text_of_parts(std::string_view name, std::span<const NamePart> parts) {
  std::string text;
  for (const NamePart& part : parts) {
    text += name.substr(part.begin, part.size);
  }
  return text;
}

std::string short_name(std::string_view name, NameDetail detail) {
  return text_of_parts(name, name_parts(name, detail));
}

}  // namespace stackpack::symbols
