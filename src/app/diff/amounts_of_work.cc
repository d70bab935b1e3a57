#include "app/diff/amounts_of_work.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

#include <fmt/format.h>

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

// A text of a file, fit for one line of a message.
std::string in_backticks(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string shown(text.substr(0, kLongest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return fmt::format("`{}{}`", shown, text.size() > kLongest ? "..." : "");
}

Error missing(std::size_t number, std::string_view text) {
  Error error{ErrorCode::kUsage, kNoOffset, text};
  error.part = static_cast<std::uint32_t>(number);
  return error;
}

// `; with a number above 0 there are: a, b`
std::string keys_with_amounts(std::span<const MetadataEntry> entries) {
  constexpr std::size_t kMost = 5;
  std::string keys;
  std::size_t count = 0;
  for (const MetadataEntry& entry : entries) {
    if (amount_of(entry.value) && ++count <= kMost) {
      keys += (count == 1 ? "" : ", ") + in_backticks(entry.key);
    }
  }
  return count == 0 ? "; none is a number above 0"
                    : fmt::format("; a number above 0 is in {}{}", keys,
                                  count > kMost ? fmt::format(" and {} more", count - kMost) : "");
}

}  // namespace

std::string problem_of_unit(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (static_cast<unsigned char>(c) & 0x80U) != 0;
  };
  const bool printable = std::all_of(word.begin(), word.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != 0x7F;
  });
  double number = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number =
      parsed.ec != std::errc::invalid_argument && parsed.ptr == word.data() + word.size();
  if (!word.empty() && letter(word.front()) && printable && word.size() <= kLongest && !is_number) {
    return {};
  }
  return fmt::format(
      "{} is {}; a word for what is done is possible here, such as request or MB, and --units FILE "
      "or "
      "--label-unit KEY say how many a file has done",
      in_backticks(word), is_number ? "a number" : "no unit of work");
}

Result<std::vector<double>> amounts_of_lines(std::string_view text,
                                             std::span<const std::string> paths,
                                             std::string& problem) {
  std::map<std::string, double, std::less<>> amounts;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++number;
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
      problem = !amount ? fmt::format(
                              "line {}: {} is no amount; a number above 0 is possible here, "
                              "and then a file, such as `1000 run1.spk`",
                              number, in_backticks(line.substr(0, blank)))
                        : fmt::format("line {}: {}: no file follows, such as in `1000 run1.spk`",
                                      number, in_backticks(line));
      return Error{ErrorCode::kCorrupt, begin, problem};
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
                                                std::span<const Reader* const> files,
                                                std::string& problem) {
  std::vector<double> result;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto entries = files[i]->metadata();
    if (!entries) {
      Error error = entries.error();
      error.part = static_cast<std::uint32_t>(i);
      return error;
    }
    const auto entry = std::find_if(entries->begin(), entries->end(),
                                    [key](const MetadataEntry& known) { return known.key == key; });
    const std::optional<double> amount =
        entry == entries->end() ? std::nullopt : amount_of(entry->value);
    if (!amount) {
      problem = entry != entries->end()
                    ? fmt::format(
                          "--label-unit: the metadata entry {} is {}; a number above 0 is "
                          "possible here",
                          in_backticks(key), in_backticks(entry->value))
                    : fmt::format("--label-unit: no metadata entry {}{}", in_backticks(key),
                                  keys_with_amounts(*entries));
      return missing(i, problem);
    }
    result.push_back(*amount);
  }
  return result;
}

}  // namespace stackpack::app
