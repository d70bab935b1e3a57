#include "bytes/quoted.h"

#include <string>

#include <doctest/doctest.h>

namespace bytes = stackpack::bytes;

TEST_CASE("quoted: long text is cut between characters, and its length told") {
  CHECK(bytes::quoted("") == "''");
  CHECK(bytes::quoted("a b") == "'a b'");
  CHECK(bytes::quoted(std::string(300, 'x')) == "'" + std::string(300, 'x') + "'");
  CHECK(bytes::quoted(std::string(40'000, 'x')) ==
        "'" + std::string(100, 'x') + "...' (40000 bytes)");
  std::string umlauts = "x";
  for (int i = 0; i < 200; ++i) {
    umlauts += "\xC3\xA4";
  }
  CHECK(bytes::quoted(umlauts) == "'" + umlauts.substr(0, 101) + "...' (401 bytes)");
}
