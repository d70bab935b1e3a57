#include "cli/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace stackpack::cli {

namespace {

// Optimal string alignment distance: edits plus swaps of neighbours.
std::size_t distance(std::string_view left, std::string_view right) {
  const std::size_t columns = right.size() + 1;
  std::vector<std::size_t> table((left.size() + 1) * columns);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * columns + j];
  };
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cell(i, j) = i + j;
        continue;
      }
      const std::size_t replaced = cell(i - 1, j - 1) + (left[i - 1] == right[j - 1] ? 0 : 1);
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, replaced});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
      }
    }
  }
  return cell(left.size(), right.size());
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> candidates) {
  // Longer words than any name of ours are no typing errors.
  constexpr std::size_t kLongest = 64;
  if (word.size() > kLongest) {
    return {};
  }
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t edits = distance(word, candidate);
    if (edits < best_distance) {
      best_distance = edits;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string candidate = closest(word, candidates);
  return candidate.empty() ? std::string() : fmt::format("; did you mean {}?", candidate);
}

}  // namespace stackpack::cli
