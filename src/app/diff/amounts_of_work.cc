#include "app/diff/amounts_of_work.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

namespace stackpack::app {

namespace {

std::optional<double> amount_of(std::string_view word) {
  double value = 0;
  const auto [rest, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool good = failure == std::errc{} && rest == word.data() + word.size() &&
                    std::isfinite(value) && value > 0;
  return good ? std::optional(value) : std::nullopt;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

Error missing(std::size_t number, std::string_view text) {
  Error error{ErrorCode::kUsage, kNoOffset, text};
  error.part = static_cast<std::uint32_t>(number);
  return error;
}

}  // namespace

Result<std::vector<double>> amounts_of_lines(std::string_view text,
                                             std::span<const std::string> paths) {
  std::map<std::string, double, std::less<>> amounts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_blanks(text.substr(at, end - at));
    const std::size_t begin = at;
    at = end + 1;
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::optional<double> amount = amount_of(line.substr(0, blank));
    const std::string_view file = without_blanks(line.substr(blank));
    if (!amount || file.empty()) {
      return Error{ErrorCode::kCorrupt, begin,
                   "not an amount above 0 and a file, such as `1000 run1.spk`"};
    }
    amounts.insert_or_assign(std::string(file), *amount);
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto found = amounts.find(paths[i]);
    found = found == amounts.end() ? amounts.find(last_part(paths[i])) : found;
    if (found == amounts.end()) {
      return missing(i, "no line of --units names this file");
    }
    result.push_back(found->second);
  }
  return result;
}

Result<std::vector<double>> amounts_of_metadata(std::string_view key,
                                                std::span<const Reader* const> files) {
  std::vector<double> result;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto entries = files[i]->metadata();
    if (!entries) {
      return entries.error();
    }
    const auto entry = std::find_if(entries->begin(), entries->end(),
                                    [key](const MetadataEntry& known) { return known.key == key; });
    const std::optional<double> amount =
        entry == entries->end() ? std::nullopt : amount_of(entry->value);
    if (!amount) {
      return missing(i, "no metadata entry of that key with an amount above 0");
    }
    result.push_back(*amount);
  }
  return result;
}

}  // namespace stackpack::app
