#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/capture_formats.h"
#include "capture/loss_counters.h"
#include "capture/weighted_events.h"
#include "support/source_folder.h"

namespace stackpack::app {

namespace {

std::vector<std::filesystem::path> sources() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::source_folder() + "/src")) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  return files;
}

// What the first group of `pattern` matches in a file.
std::set<std::string> matches(const std::filesystem::path& file, const std::regex& pattern) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

}  // namespace

TEST_CASE("loss names: the names that the formats declare are those of the registry, all of them") {
  const std::regex declared("(?:string_view k\\w+ =\\s*|SkipReason k\\w+\\{\\s*)\"([a-z0-9_]+)\"");
  const std::regex listed("\"([a-z_]+(?:\\.\\w+)?)\"");
  std::set<std::string> names{
      std::string(kCompressedInputDamaged), std::string(kSystemFactsOverLimit),
      std::string(capture::kRecordsWithoutCounts), std::string(capture::kWeightsRounded)};
  for (const std::filesystem::path& file : sources()) {
    if (file.filename().string().ends_with("_losses.h")) {
      names.merge(matches(file, declared));
    } else if (file.filename().string().ends_with("not_kept.h")) {
      names.merge(matches(file, listed));
    }
  }
  CHECK(names.size() > 80);
  const std::vector<std::string> known = loss_names();
  CHECK(std::adjacent_find(known.begin(), known.end()) == known.end());
  CHECK(std::set<std::string>(known.begin(), known.end()) == names);
}

TEST_CASE("loss names: nothing is counted under a name that no format declares") {
  const std::regex counted(
      "(?:losses?_?(?:\\(\\))?\\.(?:add|set)|bad_payload|damage|notice)\\(\\s*\"([a-z_]+)\"");
  for (const std::filesystem::path& file : sources()) {
    CAPTURE(file.string());
    CHECK(matches(file, counted).empty());
  }
}

}  // namespace stackpack::app
