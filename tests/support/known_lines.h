// Answers that are too many to be written into a test: compared as a whole with a file of lines,
// one for each input.
#pragma once

#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <xxhash.h>

#include "support/source_folder.h"

namespace stackpack::test {

/// A line's share of an answer that is too long for it.
inline std::string digest_of(std::string_view answer) {
  std::ostringstream text;
  text << std::hex << XXH64(answer.data(), answer.size(), 0);
  return text.str();
}

/// Compares lines with those of a file, by its path in the source folder. With STACKPACK_REWRITE=1
/// in the environment the file is written anew (scripts/update-golden): look at the difference, and
/// at what made it.
inline void check_known_lines(const std::string& lines, const std::string& path) {
  const std::string file = source_folder() + '/' + path;
  if (std::getenv("STACKPACK_REWRITE") != nullptr) {
    std::ofstream(file, std::ios::binary) << lines;
  }
  std::ostringstream known;
  known << std::ifstream(file, std::ios::binary).rdbuf();
  std::istringstream now(lines);
  std::istringstream then(known.str());
  std::string line;
  std::string other;
  int shown = 0;
  while (shown < 5 && std::getline(now, line)) {
    other.clear();
    std::getline(then, other);
    shown += line == other ? 0 : 1;
    CHECK(line == other);
  }
  const bool same = lines == known.str();
  CHECK_MESSAGE(same, path << ": scripts/update-golden stores the answers of now");
}

}  // namespace stackpack::test
