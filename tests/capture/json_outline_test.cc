#include "capture/json_outline.h"

#include <string>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

using namespace stackpack;
using capture::JsonOutline;

TEST_CASE("json outline: keys are found in any order and with any white space") {
  for (const char* const text :
       {R"({"meta":{"version":3,"product":"x"},"threads":[{"name":"a"},{"id":7}]})",
        "\n\t{ \"threads\" : [ { \"id\" : 7 } , { \"name\" : \"a\" } ] ,\r\n"
        "  \"meta\" : { \"product\" : \"x\" , \"version\" : 3 } }\n"}) {
    const std::vector<std::byte> bytes = test::TestBytes().text(text).bytes;
    const JsonOutline json(bytes);
    CHECK(json.is_json());
    CHECK(json.is_whole());
    CHECK(json.text_at("meta/version") == "3");
    CHECK(json.text_at("meta/product") == "x");
    CHECK(json.has("threads[]/name"));
    CHECK(json.has("threads[]/id"));
    CHECK_FALSE(json.has("version"));
    CHECK(json.text_at("none").empty());
  }
}

TEST_CASE("json outline: text that is cut anywhere is JSON that goes on") {
  const std::string text = R"({"a":{"b":[1,-2.5e3,true,null,"x\"]}"]},"c":[[{"d":"e"}]]})";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    CAPTURE(size);
    const std::vector<std::byte> bytes = test::TestBytes().text(text.substr(0, size)).bytes;
    const JsonOutline json(bytes);
    CHECK(json.is_json());
    CHECK(json.is_whole() == (size == text.size()));
  }
}

TEST_CASE("json outline: what breaks the grammar is no JSON") {
  for (const char* const text : {"", "  ", "1", "text", "{]", "[}", "{a:1}", "{\"a\" 1}",
                                 "{\"a\":x-1;}", "{1:2}", "{{}}", "{\"a\":1}}x"}) {
    CAPTURE(text);
    const std::vector<std::byte> bytes = test::TestBytes().text(text).bytes;
    const JsonOutline json(bytes);
    // What follows a whole value is not looked at.
    CHECK(json.is_json() == std::string_view(text).starts_with("{\"a\":1}"));
  }
  // Nor is what lies deep in it.
  const std::vector<std::byte> deep = test::TestBytes().text(std::string(1000, '[') + "}").bytes;
  CHECK(JsonOutline(deep).is_json());
}

TEST_CASE("json outline: frames in brackets are no array") {
  for (const std::string_view text :
       {"[unknown];main 3\n", "[broken callstack];leaf 9\n", "[kernel.kallsyms];f 1\n", "[x86]"}) {
    CAPTURE(text);
    CHECK_FALSE(JsonOutline(std::as_bytes(std::span(text))).is_json());
  }
  for (const std::string_view text : {"[true, null, -1.5e+3, NaN]", "[tru", "[Infinity]"}) {
    CAPTURE(text);
    CHECK(JsonOutline(std::as_bytes(std::span(text))).is_json());
  }
}
