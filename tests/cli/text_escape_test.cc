#include "cli/text_escape.h"

#include <doctest/doctest.h>

#include "cli/json_text.h"

namespace stackpack::cli {

TEST_SUITE_BEGIN("cli.text_escape");

TEST_CASE("a name stays on one line and in one field") {
  std::string out;
  append_escaped(out, "a\tb\nc\\d\x01\x7F caf\xC3\xA9");
  CHECK(out == "a\\tb\\nc\\\\d\\x01\\x7f caf\xC3\xA9");
}

TEST_CASE("UTF-8 is told from other bytes") {
  struct Case {
    const char* name;
    std::string_view text;
    bool valid;
    std::string_view clean;
  };
  const Case cases[] = {
      {"plain", "abc", true, "abc"},
      {"two bytes", "\xC3\xA9", true, "\xC3\xA9"},
      {"four bytes", "\xF0\x9F\x98\x80", true, "\xF0\x9F\x98\x80"},
      {"a lone continuation", "a\x80", false, "a\xEF\xBF\xBD"},
      {"cut short", "a\xC3", false, "a\xEF\xBF\xBD"},
      {"overlong", "\xC0\x80", false, "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"a surrogate", "\xED\xA0\x80", false, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"beyond the last character", "\xF4\x90\x80\x80", false,
       "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.name);
    CHECK(is_utf8(test.text) == test.valid);
    CHECK(to_utf8(test.text) == test.clean);
  }
}

TEST_CASE("JSON text is valid whatever the names hold") {
  std::string out;
  JsonLines lines(out);
  for (const char* name : {"plain", "quote\" back\\slash \x01", "bad \xFF"}) {
    JsonText json = lines.element();
    json.begin_object();
    json.field("name", name);
    json.field("number", ~std::uint64_t{0});
    json.field("ratio", 39.25);
    json.field("large", 1234567890.4);
    json.end_object();
  }
  lines.end();
  CHECK(out ==
        "[\n"
        R"({"name":"plain","number":18446744073709551615,"ratio":39.25,"large":1234567890},)"
        "\n"
        R"({"name":"quote\" back\\slash \u0001","number":18446744073709551615,"ratio":39.25,)"
        R"("large":1234567890},)"
        "\n"
        "{\"name\":\"bad \xEF\xBF\xBD\",\"number\":18446744073709551615,\"ratio\":39.25,"
        "\"large\":1234567890}\n"
        "]\n");
}

TEST_SUITE_END();

}  // namespace stackpack::cli
