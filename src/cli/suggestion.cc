#include "cli/suggestion.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bytes/quoted.h"

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

// A word of another profiler, and what does its work here.
struct ForeignWord {
  std::string_view word;
  std::string_view answer;
};

constexpr std::string_view kRecord =
    "perf record -g -o perf.data COMMAND records, stackpack top perf.data shows it";
constexpr std::string_view kTree = "stackpack top --tree shows callstacks as a tree";
constexpr std::string_view kPage =
    "stackpack view shows a flame graph, export -o OUT.html keeps it";
constexpr std::string_view kWaits = "stackpack waits shows how long threads waited, and what for";
constexpr ForeignWord kForeignWords[] = {
    {"record", kRecord},
    {"report",
     "stackpack top shows the hottest functions, callers and callees what is around them"},
    {"script", "stackpack dump FILE --samples lists samples, export --format folded callstacks"},
    {"flamegraph", kPage},
    {"flame", kPage},
    {"web", kPage},
    {"open", kPage},
    {"timechart", kPage},
    {"tree", kTree},
    {"sched", kWaits},
    {"lock", kWaits},
    {"offcpu", kWaits},
    {"c2c", "stackpack mem --order shared shows cache lines that threads share"},
    {"evlist", "stackpack dump FILE --events lists events"},
    {"buildid-list", "stackpack dump FILE --modules lists images with their build ids"},
    {"buildid-cache", "stackpack symbolize --symbols DIR takes names from files elsewhere"},
    {"archive", "stackpack collect packs the files that names come from"},
    {"inject", "stackpack symbolize --perf-map DIR names code that was made at run time"},
    {"peek", "stackpack callers and callees show what is around a function"},
    {"disasm", "stackpack annotate shows instructions"},
    {"import", "stackpack convert INPUT -o OUT.spk packs a capture"},
};

}  // namespace

std::string_view command_for(std::string_view foreign_word) {
  const auto* const found =
      std::find_if(std::begin(kForeignWords), std::end(kForeignWords),
                   [=](const ForeignWord& known) { return known.word == foreign_word; });
  return found == std::end(kForeignWords) ? std::string_view() : found->answer;
}

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

std::string no_such_function(const std::string& text, const std::vector<std::string>& names) {
  return fmt::format("no function {} occurs{}", bytes::quoted(text), nearest_names(text, names));
}

}  // namespace stackpack::cli
