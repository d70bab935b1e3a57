#include "capture/redaction.h"

#include <algorithm>
#include <array>
#include <span>

namespace stackpack::capture {

namespace {

constexpr std::string_view kStandIn = "USER";
constexpr std::array<std::string_view, 3> kHomes{"home", "users", "documents and settings"};
// Homes that are nobody's: they reveal nothing, and readers of paths expect them.
constexpr std::array<std::string_view, 4> kNobody{"public", "default", "all users", "shared"};
constexpr std::array<std::string_view, 2> kDroppedFacts{"command_line", "host.name"};

bool is_separator(char c) {
  return c == '/' || c == '\\';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char a, char b) { return lower(a) == b; });
  });
}

}  // namespace

bool is_identifying(std::string_view key) {
  constexpr std::array<std::string_view, 3> kKeys{"resource.host.", "process.command",
                                                  "process.owner"};
  return std::any_of(kKeys.begin(), kKeys.end(), [key](std::string_view part) {
    return key.find(part) != std::string_view::npos;
  });
}

std::string without_user_names(std::string_view text) {
  std::string result;
  bool in_home = false;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = static_cast<std::size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_separator) -
        text.begin());
    const std::string_view part = text.substr(begin, end - begin);
    const bool secret = in_home && !part.empty() && !is_one_of(part, kNobody);
    result += secret ? kStandIn : part;
    // Separators may be doubled; the first part of a path that is not absolute is no folder of
    // homes.
    in_home = part.empty() ? in_home : !secret && begin != 0 && is_one_of(part, kHomes);
    if (end < text.size()) {
      result += text[end];
    }
    begin = end + 1;
  }
  return result;
}

void redact(SystemTables& tables) {
  for (Process& process : tables.processes) {
    process.command_line.clear();
    process.name = without_user_names(process.name);
  }
  for (Thread& thread : tables.threads) {
    thread.name = without_user_names(thread.name);
  }
  for (Module& module : tables.modules) {
    module.path = without_user_names(module.path);
    module.debug_name = without_user_names(module.debug_name);
    module.file = {};
  }
  std::erase_if(tables.metadata, [](const MetadataEntry& entry) {
    return is_one_of(entry.key, kDroppedFacts) || is_identifying(entry.key);
  });
  for (MetadataEntry& entry : tables.metadata) {
    entry.value = without_user_names(entry.value);
  }
}

}  // namespace stackpack::capture
