#include "bytes/quoted.h"

#include <string>

#include <doctest/doctest.h>

using stackpack::bytes::quoted;

TEST_CASE("quoted: long text is cut between characters, and its length told") {
  CHECK(quoted("") == "''");
  CHECK(quoted("a b") == "'a b'");
  CHECK(quoted(std::string(300, 'x')) == "'" + std::string(300, 'x') + "'");
  CHECK(quoted(std::string(40'000, 'x')) == "'" + std::string(100, 'x') + "...' (40000 bytes)");
  std::string umlauts = "x";
  for (int i = 0; i < 200; ++i) {
    umlauts += "\xC3\xA4";
  }
  CHECK(quoted(umlauts) == "'" + umlauts.substr(0, 101) + "...' (401 bytes)");
}
