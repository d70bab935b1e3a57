#include "cli/command_text.h"

#include <sstream>
#include <string>

#include <doctest/doctest.h>

namespace stackpack::cli {

namespace {

// A text with single blanks between its words.
std::string words_of(const std::string& text) {
  std::istringstream in(text);
  std::string joined;
  for (std::string word; in >> word;) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  return joined;
}

std::string long_text() {
  std::string text = "begin";
  for (int i = 0; i < 40; ++i) {
    text += " word" + std::to_string(i * i * i);
  }
  return text;
}

}  // namespace

TEST_CASE("cli.help: long texts are broken between words, and no word is lost") {
  CommandText command;
  command.name = "work";
  command.summary = "does its work";
  command.usage = {"FILE"};
  command.options = {{{}, "FILE", "what is read", "", ""},
                     {{"-o", "--output"}, "FILE", long_text(), "Output", ""},
                     {{"--an-option-with-a-name-too-long"}, "A|B", "short", "Output", "A"}};
  const std::string help = command_help(command);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
  const std::string words = words_of(help);
  CHECK(words.find("-o, --output FILE " + long_text()) != std::string::npos);
  CHECK(words.find("--an-option-with-a-name-too-long A|B short") != std::string::npos);
  CHECK(words.find("FILE what is read") != std::string::npos);
}

}  // namespace stackpack::cli
