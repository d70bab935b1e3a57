#include "cli/suggestion.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::cli {

TEST_CASE("cli.suggestion: typing errors differ from other words") {
  const std::vector<std::string> commands = {"convert", "stats",  "dump",
                                             "show",    "verify", "export"};
  struct Case {
    const char* name;
    const char* word;
    const char* expected;
  };
  const Case cases[] = {
      {"a missing letter", "convrt", "convert"},
      {"swapped letters", "dmup", "dump"},
      {"a letter too many", "statss", "stats"},
      {"another letter", "vorify", "verify"},
      {"a short word with one error", "sho", "show"},
      {"something else", "frobnicate", ""},
      {"nothing in common", "x", ""},
      {"the empty word", "", ""},
  };
  for (const Case& test : cases) {
    CAPTURE(test.name);
    CHECK(closest(test.word, commands) == test.expected);
  }
  CHECK(closest(std::string(100'000, 'a'), commands).empty());
  CHECK(did_you_mean("convrt", commands) == "; did you mean convert?");
  CHECK(did_you_mean("x", commands).empty());
}

}  // namespace stackpack::cli
