// Answers that are too many to be written into a test: their figures, compared with a file of
// lines, one for each input. Lines that begin with `#` say why the file is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "support/source_folder.h"

namespace stackpack::test {

/// What many answers to one kind of question come to: how many, how many of them differ, how many
/// letters they have, and what their numbers add up to.
class AnswerFigures {
 public:
  void add(const std::string& answer) {
    ++answers_;
    different_.insert(std::hash<std::string>{}(answer));
    letters_ += answer.size();
    std::uint64_t number = 0;
    for (const char letter : answer) {
      if (letter >= '0' && letter <= '9') {
        number = number * 10 + static_cast<std::uint64_t>(letter - '0');
      } else {
        numbers_ += number;
        number = 0;
      }
    }
    numbers_ += number;
  }

  /// answers/different ones/letters/sum of numbers
  [[nodiscard]] std::string text() const {
    return std::to_string(answers_) + '/' + std::to_string(different_.size()) + '/' +
           std::to_string(letters_) + '/' + std::to_string(numbers_);
  }

 private:
  std::set<std::size_t> different_;  // by their hashes, which are never shown
  std::size_t answers_ = 0;
  std::size_t letters_ = 0;
  std::uint64_t numbers_ = 0;
};

/// The lines of a file, those apart that say why it is there.
struct KnownLines {
  explicit KnownLines(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      (line.starts_with('#') ? reason : lines) += line + '\n';
    }
  }
  std::string reason;
  std::string lines;
};

/// Compares lines with those of a file, by its path in the source folder. With STACKPACK_REWRITE=1
/// in the environment the file is written anew (scripts/update-golden): look at the difference, and
/// at what made it.
inline void check_known_lines(const std::string& lines, const std::string& path) {
  const std::string file = source_folder() + '/' + path;
  if (std::getenv("STACKPACK_REWRITE") != nullptr) {
    const std::string reason = KnownLines(file).reason;
    std::ofstream(file, std::ios::binary) << reason << lines;
  }
  const KnownLines known(file);
  std::istringstream now(lines);
  std::istringstream then(known.lines);
  std::string line;
  std::string other;
  int shown = 0;
  while (shown < 5 && std::getline(now, line)) {
    other.clear();
    std::getline(then, other);
    shown += line == other ? 0 : 1;
    CHECK(line == other);
  }
  const bool same = lines == known.lines;
  CHECK_MESSAGE(same, path << ": scripts/update-golden --library stores the figures of now");
}

}  // namespace stackpack::test
