#include "app/listing/loss_names.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <doctest/doctest.h>

#include "support/source_folder.h"

namespace stackpack::app {

namespace {

// The names with which the sources count something, in whatever way.
std::set<std::string> counted_names() {
  namespace fs = std::filesystem;
  const std::regex counted(
      "(?:losses?_?(?:\\(\\))?\\.(?:add|set)|bad_payload|damage|notice)\\(\\s*\"([a-z_]+)\"");
  const std::regex constant("string_view k\\w+ =\\s*\"([a-z_]+)\"");
  std::set<std::string> names;
  const auto collect = [&names](const std::string& text, const std::regex& pattern) {
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
         ++match) {
      names.insert((*match)[1]);
    }
  };
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() + "/src")) {
    const std::string file = entry.path().filename().string();
    if (!entry.is_regular_file() || file == "loss_names.cc") {
      continue;
    }
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    collect(text, counted);
    if (file == "perf_losses.h" || file == "loss_counters.h") {
      collect(text, constant);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("loss names: every counter of the sources is known, and no other") {
  const std::vector<std::string> known = loss_names();
  CHECK(std::adjacent_find(known.begin(), known.end()) == known.end());
  const std::set<std::string> counted = counted_names();
  CHECK(counted.size() > 50);
  for (const std::string& name : counted) {
    CAPTURE(name);  // if it is new: add it to src/app/loss_names.cc
    CHECK(std::binary_search(known.begin(), known.end(), name));
  }
  const std::vector<std::string> reasons = skip_reason_names();
  for (const std::string& name : known) {
    CAPTURE(name);  // if it is gone: take it out of src/app/loss_names.cc
    CHECK((counted.contains(name) || std::binary_search(reasons.begin(), reasons.end(), name)));
  }
}

}  // namespace stackpack::app
