#include "cli/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/suggestion.h"

namespace stackpack::cli {

namespace {

// `; did you mean A, B?`: names that have the text in them, or else one that is spelled alike.
std::string nearest_names(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 3;
  const auto lower = [](std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word;
  };
  const auto last_part = [](const std::string& name) {
    return name.substr(name.find_last_of(":.!") + 1);
  };
  const std::string wanted = lower(last_part(text));
  std::vector<std::string> found;
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    parts.push_back(lower(last_part(name)));
    if (!wanted.empty() && lower(name).find(wanted) != std::string::npos) {
      found.push_back(name);
    }
  }
  const std::string near = found.empty() ? closest(wanted, parts) : std::string();
  if (!near.empty()) {
    found.push_back(names[static_cast<std::size_t>(std::find(parts.begin(), parts.end(), near) -
                                                   parts.begin())]);
  }
  found.resize(std::min(found.size(), kMostNames));
  return found.empty() ? "; `top` lists the names"
                       : fmt::format("; did you mean {}?", fmt::join(found, ", "));
}

}  // namespace

std::string no_such_function(const std::string& text, const std::vector<std::string>& names) {
  return fmt::format("no function '{}' occurs{}", text, nearest_names(text, names));
}

}  // namespace stackpack::cli
