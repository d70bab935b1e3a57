#include "query/function_pattern.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::test {
namespace {

using query::FunctionPattern;
using Fit = FunctionPattern::Fit;

TEST_CASE("functions: plain names are without types, parameters and template arguments") {
  struct Case {
    std::string name;
    std::string plain;
  };
  for (const Case& c : std::vector<Case>{
           {"checksum", "checksum"},
           {"ns::Engine::apply(int, std::vector<int> const&) const", "ns::Engine::apply"},
           {"void ns::Engine<int>::apply<long>(long)", "ns::Engine::apply"},
           {"unsigned long std::accumulate<int*, int>(int*, int*, int)", "std::accumulate"},
           {"(anonymous namespace)::run(char)", "(anonymous namespace)::run"},
           {"void (anonymous namespace)::run<int>(char)", "(anonymous namespace)::run"},
           {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
           {"std::operator<< <int>(int)", "std::operator<<"},
           {"Foo::operator->() const", "Foo::operator->"},
           {"operator new(unsigned long)", "operator new"},
           {"std::vector<int, std::allocator<int> >::operator[](unsigned long)",
            "std::vector::operator[]"},
           {"encoding/json.(*decodeState).object", "encoding/json.(*decodeState).object"},
           {"main.main.func1", "main.main.func1"},
           {"alloc::slice::<impl [T]>::sort_by", "alloc::slice::<impl [T]>::sort_by"},
           {"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
            "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
           {"System.String.Concat(System.String, System.String)", "System.String.Concat"},
           {"-[NSString length]", "-[NSString length]"},
           {"[libc.so.6]", "[libc.so.6]"},
           {"", ""},
           {"(", "("},
           {"<<<", "<<<"},
           {"f(", "f"}}) {
    CAPTURE(c.name);
    CHECK(query::plain_function_name(c.name) == c.plain);
  }
}

TEST_CASE("functions: every damaged spelling of a name has a plain name") {
  const std::string name =
      "void (anonymous namespace)::a<b(*)[3]>::operator()<c>({lambda#1}) const";
  for (std::size_t begin = 0; begin < name.size(); ++begin) {
    for (std::size_t end = begin; end <= name.size(); ++end) {
      const std::string part = name.substr(begin, end - begin);
      CHECK(query::plain_function_name(part).empty() == part.empty());
    }
  }
}

TEST_CASE("functions: one is found by each of its names, and after what is called just so") {
  const std::vector<AliasList> aliases{
      {std::make_shared<std::vector<std::string>>(std::vector<std::string>{"write", "__write"})},
      {}};
  const auto fit = [&aliases](std::string_view text) {
    const auto pattern = FunctionPattern::parse(text);
    const Fit first = pattern->fit("__GI___libc_write", "libc.so.6", aliases);
    CHECK(pattern->fit("__GI___libc_write", "libc.so.6", aliases) == first);
    CHECK(pattern->fit("__GI___libc_write", "libc.so.6", {}) >= first);
    return first;
  };
  CHECK(fit("__GI___libc_write") == Fit::kExact);
  CHECK(fit("write") == Fit::kWhole);
  CHECK(fit("libc.so.6!__write") == Fit::kWhole);
  CHECK(fit("libm.so.6!__write") == Fit::kNone);
  CHECK(fit("/^wr/") != Fit::kNone);
  CHECK(fit("read") == Fit::kNone);
  CHECK(fit("id:" + query::function_id("write", "libc.so.6")) == Fit::kNone);
}

TEST_CASE("functions: an id is of one function and its image alone") {
  const std::string id = query::function_id("ns::f(int)", "libfoo.so");
  CHECK(id.size() == 16);
  CHECK(id == query::function_id("ns::f(int)", "libfoo.so"));
  CHECK(id != query::function_id("ns::f(int)", "libbar.so"));
  CHECK(id != query::function_id("ns::f(long)", "libfoo.so"));
  CHECK(query::function_id("ab", "c") != query::function_id("b", "ca"));
  CHECK(query::function_id("", "") == "c44bdff4074eecdb");  // as XXH3-64 of one zero byte has it

  const auto pattern = FunctionPattern::parse("id:" + id);
  REQUIRE(pattern);
  CHECK(pattern->fit("ns::f(int)", "libfoo.so") == Fit::kExact);
  CHECK(pattern->fit("ns::f(int)", "libbar.so") == Fit::kNone);
  CHECK(pattern->fit("f", "libfoo.so") == Fit::kNone);
  // A name may look like an id, and what is none is a name.
  CHECK(pattern->fit("id:" + id, "") == Fit::kExact);
  CHECK(FunctionPattern::parse("id:12")->fit("id:12", "") == Fit::kExact);
  std::string capitals = id;
  for (char& letter : capitals) {
    letter = letter >= 'a' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  CHECK(FunctionPattern::parse("id:" + capitals)->fit("ns::f(int)", "libfoo.so") == Fit::kExact);
}

TEST_CASE("functions: a text fits names as one would type them") {
  struct Case {
    std::string text;
    std::string name;
    std::string module;
    Fit fit;
  };
  const std::string apply = "void ns::Engine<int>::apply<long>(long) const";
  for (const Case& c : std::vector<Case>{
           {"checksum", "checksum", "", Fit::kExact},
           {"checksum", "Checksum", "", Fit::kWhole},
           {"Checksum", "checksum", "", Fit::kNone},
           {"checksum", "checksum(int)", "", Fit::kWhole},
           {"checksum", "checksum2", "", Fit::kNone},
           {"checksum", "app::checksum(int)", "", Fit::kEnd},
           {"sum", "app::checksum(int)", "", Fit::kNone},
           {"Engine::apply", apply, "", Fit::kEnd},
           {"engine::apply", apply, "", Fit::kEnd},
           {"ns::Engine::apply", apply, "", Fit::kWhole},
           {"Engine", apply, "", Fit::kNone},
           {"apply", apply, "", Fit::kEnd},
           {"std::vector<int>", "std::vector<int>(x)", "", Fit::kWhole},
           {"*write*", "vfs_write", "", Fit::kWhole},
           {"*Write*", "vfs_write", "", Fit::kNone},
           {"ns::*::apply", apply, "", Fit::kWhole},
           {"?alloc", "malloc", "", Fit::kWhole},
           {"/^vfs_(read|write)$/", "vfs_write", "", Fit::kWhole},
           {"/WRITE/", "vfs_write", "", Fit::kNone},
           {"/write/", "VFS_WRITE", "", Fit::kWhole},
           {"libc.so.6!malloc", "malloc", "libc.so.6", Fit::kExact},
           {"libc!malloc", "malloc", "libc.so.6", Fit::kExact},
           {"libc*!m*", "malloc", "libc.so.6", Fit::kWhole},
           {"ld*!malloc", "malloc", "libc.so.6", Fit::kNone},
           {"libc!/^mal/", "malloc", "libc.so.6", Fit::kWhole},
           {"demo!*", "anything", "demo", Fit::kWhole},
           {"!", "!", "", Fit::kExact},
           {"a!b", "a!b", "", Fit::kExact},
           {"operator!", "Foo::operator!() const", "", Fit::kEnd},
           {"object", "encoding/json.(*decodeState).object", "", Fit::kEnd},
           {"(*decodeState).object", "encoding/json.(*decodeState).object", "", Fit::kEnd},
           {"[libc.so.6]", "[libc.so.6]", "libc.so.6", Fit::kExact},
       }) {
    CAPTURE(c.text);
    CAPTURE(c.name);
    const auto pattern = FunctionPattern::parse(c.text);
    REQUIRE(pattern.has_value());
    CHECK(pattern->fit(c.name, c.module) == c.fit);
  }
}

TEST_CASE("functions: an expression that is refused says why") {
  struct Case {
    std::string text;
    std::string why;
  };
  for (const Case& c : std::vector<Case>{
           {"/(/", "what is between the slashes is no regular expression"},
           {"/(a)\\1/", "a regular expression here has no back references such as \\1"},
           {"/a\\y/", "the regular expression between the slashes has an unknown escape"},
           {"/(?=a)b/",
            "a regular expression here has no look-around such as (?=...), and names groups as "
            "(?P<name>...)"},
           {"/a{1001}/", "a regular expression here repeats at most 1000 times"},
           {"/\xFF/", "the regular expression between the slashes is not UTF-8"},
           {"/" + std::string(FunctionPattern::kMostSteps, 'a') + "/",
            "the regular expression between the slashes is too large (at most 2000 steps; "
            "docs/cli.md)"},
       }) {
    CAPTURE(c.text);
    const auto pattern = FunctionPattern::parse(c.text);
    REQUIRE_FALSE(pattern.has_value());
    CHECK(pattern.error().code == ErrorCode::kUsage);
    CHECK(pattern.error().what == c.why);
  }
}

TEST_CASE("functions: an expression may nest as deep as it likes") {
  const std::string deep = std::string(20'000, '(') + "a" + std::string(20'000, ')');
  const auto pattern = FunctionPattern::parse("/" + deep + "/");
  REQUIRE(pattern.has_value());
  CHECK(pattern->fit("main", "") == Fit::kWhole);
  CHECK(pattern->fit("do_it", "") == Fit::kNone);
}

TEST_CASE("functions: every small letter stands for its capital, and no capital for a small one") {
  for (char small = 'a'; small <= 'z'; ++small) {
    const std::string low = std::string("run_") + small;
    const std::string high = std::string("run_") + static_cast<char>(small - 'a' + 'A');
    CAPTURE(low);
    const auto typed_low = FunctionPattern::parse(low);
    const auto typed_high = FunctionPattern::parse(high);
    REQUIRE(typed_low.has_value());
    REQUIRE(typed_high.has_value());
    CHECK(typed_low->fit(high, "") == Fit::kWhole);
    CHECK(typed_low->fit(low, "") == Fit::kExact);
    CHECK(typed_high->fit(low, "") == Fit::kNone);
    CHECK(typed_high->fit(high, "") == Fit::kExact);
  }
}

TEST_CASE("functions: an expression takes time proportional to a name, and no stack") {
  const auto pattern = FunctionPattern::parse("/(a*)*b$/");
  REQUIRE(pattern.has_value());
  CHECK(pattern->fit(std::string(20'000, 'a'), "") == Fit::kNone);
  CHECK(pattern->fit(std::string(20'000, 'a') + "b", "") == Fit::kWhole);
}

TEST_CASE("functions: those that fit best are meant") {
  using Fits = std::vector<Fit>;
  using Meant = std::vector<bool>;
  CHECK(query::best_fits(Fits{Fit::kEnd, Fit::kWhole, Fit::kNone, Fit::kWhole}) ==
        Meant{false, true, false, true});
  CHECK(query::best_fits(Fits{Fit::kNone, Fit::kNone}) == Meant{false, false});
  CHECK(query::best_fits(Fits{}).empty());
}

}  // namespace
}  // namespace stackpack::test
