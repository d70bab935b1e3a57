#include "app/listing/function_titles.h"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using stackpack::app::columns_of;
using stackpack::app::cut_to;
using stackpack::app::function_titles;
using stackpack::app::FunctionNames;
using stackpack::app::FunctionTitle;
using stackpack::app::kAnyWidth;

TEST_CASE("texts are cut between characters, and wide ones count twice") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\u00e4b") == 2);
  CHECK(columns_of("\u6f22\u5b57") == 4);
  CHECK(cut_to("abcdef", 6) == "abcdef");
  CHECK(cut_to("abcdef", 5) == "ab...");
  CHECK(cut_to("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 5) == "\u00e4\u00e4...");
  CHECK(cut_to("\u6f22\u6f22\u6f22\u6f22", 6) == "\u6f22...");
  CHECK(cut_to("abcdef", kAnyWidth) == "abcdef");
  CHECK(cut_to("abcdef", 2) == "..");
}

TEST_CASE("titles have module and place, and lose namespaces where there is little room") {
  const std::vector<FunctionTitle> titles = {
      {"ns::inner::C<int>::f(int)", "", ""},
      {"ns::inner::C<int>::f(int)", "liba.so", ""},
      {"ns::inner::C<int>::f(int)", "", "/src/deep/file.cc:12"}};
  using Texts = std::vector<std::string>;
  CHECK(function_titles(titles, FunctionNames::kFull) ==
        Texts{"ns::inner::C<int>::f(int)", "liba.so!ns::inner::C<int>::f(int)",
              "ns::inner::C<int>::f(int) at /src/deep/file.cc:12"});
  CHECK(function_titles(titles, FunctionNames::kShort) ==
        Texts{"ns::inner::C::f", "liba.so!ns::inner::C::f",
              "ns::inner::C::f at /src/deep/file.cc:12"});
  CHECK(function_titles(titles, FunctionNames::kShort, 21) ==
        Texts{"ns::inner::C::f", "liba.so!inner::C::f", "C::f at ....cc:12"});
}

TEST_CASE("no two rows are alike, and none is wider than it may be") {
  std::vector<std::string> names = {"f", "f(int)", "f(long)", "g<int>(int)", "g<long>(int)"};
  for (int i = 0; i < 30; ++i) {
    names.push_back(std::string(100, 'x') + "::" + std::string(100, 'y') + std::to_string(i));
    names.push_back("std::map<K" + std::to_string(i) + ", V>::operator[](K const&)");
  }
  std::vector<FunctionTitle> titles;
  for (const std::string& name : names) {
    titles.push_back({name, "", ""});
    titles.push_back({name, "a-library-with-a-long-name.so.6", ""});
    titles.push_back({name, "a-library-with-a-long-name.so.6", "/src/file.cc:12345"});
    titles.push_back({name, "", "/a/place/in/a/deep/folder/with/a/long-name.cc:12345"});
  }
  for (const std::size_t width : {16U, 28U, 34U, 80U}) {
    for (const FunctionNames kind : {FunctionNames::kShort, FunctionNames::kFull}) {
      const std::vector<std::string> texts = function_titles(titles, kind, width);
      REQUIRE(texts.size() == titles.size());
      CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == texts.size());
      for (const std::string& text : texts) {
        CAPTURE(text);
        CHECK(columns_of(text) <= width);
      }
    }
  }
  const std::vector<FunctionTitle> same = {{"f(int)", "", ""}, {"f(int)", "", ""}};
  CHECK(function_titles(same, FunctionNames::kShort) == std::vector<std::string>{"f", "f"});
}
