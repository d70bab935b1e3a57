#include "app/redact/sip_hash.h"

#include <string>

#include <doctest/doctest.h>

#include "app/redact/redacted_names.h"

namespace stackpack::app {

// The example of the paper: key 00 01 .. 0f, text 00 01 .. 0e; and the empty text, from the
// reference implementation's vectors.
TEST_CASE("sip hash: the published vectors") {
  const SipHash hash(0x0706050403020100U, 0x0f0e0d0c0b0a0908U);
  std::string text;
  CHECK(hash.of(text) == 0x726fdb47dd0e0e31U);
  for (char letter = 0; letter < 15; ++letter) {
    text.push_back(letter);
  }
  CHECK(hash.of(text) == 0xa129ca6149be45e5U);
}

TEST_CASE("stand-ins: numbers without a key, hashes with one; kinds do not mix") {
  StandIns numbers(std::nullopt);
  CHECK(numbers.of("name", "") == "");
  CHECK(numbers.of("name", "b") == "name_1");
  CHECK(numbers.of("name", "a") == "name_2");
  CHECK(numbers.of("name", "b") == "name_1");
  CHECK(numbers.of("file", "b") == "file_1");
  StandIns one("key one");
  StandIns two("key two");
  CHECK(one.of("name", "b") == StandIns("key one").of("name", "b"));
  CHECK(one.of("name", "b") != two.of("name", "b"));
  CHECK(one.of("name", "b").size() == std::string("name_").size() + 16);
  CHECK(one.of_build_id({1, 2, 3}).size() == 3);
  CHECK(one.of_build_id({1, 2, 3}) != std::vector<std::uint8_t>{1, 2, 3});
}

TEST_CASE("redacted names: a call that is inlined in kept and in other code is not kept") {
  Names names;
  for (const char* text : {"kept", "other", "shared", "alone"}) {
    names.texts.add(text);
  }
  Function function;
  function.owner = FunctionOwner::kImage;
  function.size = 4;
  function.name = 0;
  names.functions.push_back(function);
  function.module = 1;
  function.name = 1;
  names.functions.push_back(function);
  names.inlined.resize(2);
  names.inlined[0].name = 2;
  names.inlined[1].name = 3;
  const auto add_line = [&names](std::uint32_t module, std::uint32_t inlined) {
    CodeLine line;
    line.owner = FunctionOwner::kImage;
    line.module = module;
    line.inlined = inlined;
    names.lines.push_back(line);
  };
  add_line(0, 0);
  add_line(0, 1);
  add_line(1, 0);
  StandIns stand_ins(std::nullopt);
  RedactedCounts counts;
  const Names after = redacted_names(names, {true, false}, false, stand_ins, counts);
  CHECK(after.texts[after.functions[0].name] == "kept");
  CHECK(after.texts[after.functions[1].name] == "function_1");
  CHECK(after.texts[after.inlined[0].name] == "function_2");
  CHECK(after.texts[after.inlined[1].name] == "alone");
  CHECK(counts.functions == 1);
  CHECK(counts.kept_functions == 1);
}

}  // namespace stackpack::app
