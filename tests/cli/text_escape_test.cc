#include "cli/text_escape.h"

#include <doctest/doctest.h>

#include "bytes/utf8.h"
#include "cli/json_text.h"

namespace stackpack::cli {

TEST_SUITE_BEGIN("cli.text_escape");

TEST_CASE("a name stays on one line and in one field") {
  std::string out;
  append_escaped(out, "a\tb\nc\\d\x01\x7F caf\xC3\xA9");
  CHECK(out == "a\\tb\\nc\\\\d\\x01\\x7f caf\xC3\xA9");
}

TEST_CASE("what a terminal would obey is shown by its bytes") {
  struct Case {
    const char* name;
    std::string_view text;
    std::string_view shown;
  };
  const Case cases[] = {
      {"C1 as UTF-8: CSI",
       "\xC2\x9B"
       "31m",
       "\\xc2\\x9b31m"},
      {"the first of C1 and the last", "\xC2\x80\xC2\x9F", "\\xc2\\x80\\xc2\\x9f"},
      {"after C1", "\xC2\xA0", "\xC2\xA0"},
      {"a raw byte of C1",
       "\x9B"
       "2J",
       "\\x9b2J"},
      {"a raw byte after C1", "\xA9", "\\xa9"},
      {"a cut sequence", "a\xE2\x80", "a\\xe2\\x80"},
      {"right-to-left override", "\xE2\x80\xAE", "\\xe2\\x80\\xae"},
      {"marks and isolates", "\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C\xE2\x81\xA6\xE2\x81\xA9",
       "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
      {"beside the marks", "\xE2\x80\x8A\xE2\x80\x90\xE2\x80\xAF\xE2\x81\x9F\xE2\x81\xB0",
       "\xE2\x80\x8A\xE2\x80\x90\xE2\x80\xAF\xE2\x81\x9F\xE2\x81\xB0"},
      {"of no width", "a\xE2\x80\x8B\xE2\x80\x8D\xEF\xBB\xBF\xC2\xAD",
       "a\\xe2\\x80\\x8b\\xe2\\x80\\x8d\\xef\\xbb\\xbf\\xc2\\xad"},
      {"tags", "\xF3\xA0\x80\x80\xF3\xA0\x81\x81\xF3\xA0\xBF\xBF",
       "\\xf3\\xa0\\x80\\x80\\xf3\\xa0\\x81\\x81\\xf3\\xa0\\xbf\\xbf"},
      {"selectors of variants", "\xEF\xB8\x8F\xF3\xA0\x84\x80",
       "\\xef\\xb8\\x8f\\xf3\\xa0\\x84\\x80"},
      {"a line separator", "\xE2\x80\xA8", "\\xe2\\x80\\xa8"},
      {"other scripts", "\xD7\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80",
       "\xD7\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.name);
    std::string listed;
    append_escaped(listed, test.text);
    CHECK(listed == test.shown);
    std::string message;
    append_message(message, test.text);
    CHECK(message == test.shown);
  }
}

TEST_CASE("messages keep backslashes, and what was escaped stays as it is") {
  std::string out;
  append_message(out, "C:\\x \x1B[31m\n");
  CHECK(out == "C:\\x \\x1b[31m\\n");
  std::string again;
  append_message(again, out);
  CHECK(again == out);
}

TEST_CASE("JSON keeps the values of control characters and shows none") {
  std::string out;
  JsonText(out).value("\xC2\x9B \x7F \xE2\x80\xAE caf\xC3\xA9 \x9B");
  CHECK(out == "\"\\u009b \\u007f \\u202e caf\xC3\xA9 \xEF\xBF\xBD\"");
}

TEST_CASE("JSON has characters beyond U+FFFF as two units") {
  std::string out;
  JsonText(out).value("a\xF3\xA0\x81\x81\xE2\x80\x8B");
  CHECK(out == "\"a\\udb40\\udc41\\u200b\"");
}

TEST_CASE("UTF-8 differs from other bytes") {
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
    CHECK(bytes::valid_utf8(test.text) == test.clean);
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
