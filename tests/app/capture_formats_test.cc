#include "app/convert/capture_formats.h"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "stackpack/convert.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"

using namespace stackpack;

namespace {

std::string page(const std::string& name) {
  std::string text;
  for (const std::byte byte : test::read_test_file(test::source_folder() + name)) {
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

std::string manual() {
  return page("/docs/cli.md") + page("/docs/etl-notes.md") + page("/docs/perf-notes.md");
}

// All formats, each between quotes, with a separator between them.
std::string listed(const std::string& quote, const std::string& separator) {
  std::string text;
  for (const std::string& name : capture_format_names()) {
    text += (text.empty() ? "" : separator) + quote + name + quote;
  }
  return text;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("capture formats: each is complete and found by its name") {
  std::set<std::string_view> names;
  for (const capture::SourceFormat* const format : app::capture_formats()) {
    CAPTURE(format->name);
    CHECK(names.insert(format->name).second);
    const bool complete =
        format->probe != nullptr && format->streams != nullptr && format->read != nullptr;
    REQUIRE(complete);
    CHECK_FALSE(format->probe({}));
    CHECK_FALSE(format->probe({}).reason.empty());
    // Documents of JSON are read as a whole or not at all.
    const bool is_document =
        format->name == "speedscope" || format->name == "firefox" || format->name == "v8";
    CHECK(format->skip_reasons.empty() == is_document);
    CHECK(app::format_named(format->name) == format);
  }
  CHECK(capture_format_names().size() == names.size());
  CHECK(app::format_named("auto") == nullptr);
  CHECK(app::format_by_ending("A/B.ETL") == app::format_named("etl"));
  CHECK(app::format_by_ending("etl") == nullptr);
}

TEST_CASE("capture formats: documents list them all, in their order") {
  const std::string cli = page("/docs/cli.md");
  CHECK(count_of(cli, listed("\"", " | ")) == count_of(cli, "\"perf\" | "));
  CHECK(count_of(cli, "\"perf\" | ") == 2);
  CHECK(page("/docs/format.md").find(listed("`", ", ") + ", `merged`") != std::string::npos);
}

TEST_CASE("capture formats: loss counters and reasons have names of small letters, each once") {
  for (const std::vector<std::string>& names : {app::loss_names(), app::skip_reason_names()}) {
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz18_.") == std::string::npos);
    }
  }
  for (const capture::SourceFormat* const format : app::capture_formats()) {
    std::set<std::string_view> names(format->loss_names.begin(), format->loss_names.end());
    CHECK(names.size() == format->loss_names.size());
    for (const capture::SkipReason& reason : format->skip_reasons) {
      CAPTURE(reason.name());
      CHECK(names.insert(reason.name()).second);
    }
  }
}

TEST_CASE("capture formats: the manual explains every reason to skip bytes") {
  const std::string text = manual();
  for (const std::string& name : app::skip_reason_names()) {
    CAPTURE(name);
    CHECK(text.find('`' + name + '`') != std::string::npos);
  }
}
