#include "symbols/name_parts.h"

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/source_folder.h"

using stackpack::symbols::distinct_details;
using stackpack::symbols::name_parts;
using stackpack::symbols::NameDetail;
using stackpack::symbols::NamePart;
using stackpack::symbols::short_name;
using stackpack::symbols::text_of_parts;

namespace {

struct RecordedName {
  std::string language;
  std::string shown;
  std::string name;
};

std::vector<RecordedName> recorded_names() {
  std::ifstream file(stackpack::test::source_folder() + "/testdata/names/function_names.tsv");
  std::vector<RecordedName> names;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (!line.starts_with('#')) {
      names.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                       line.substr(second + 1)});
    }
  }
  return names;
}

// Parts are bytes of the name, in order; what follows from a start on is a name, too.
void check_parts(std::string_view name, NameDetail detail) {
  CAPTURE(name);
  const std::vector<NamePart> parts = name_parts(name, detail);
  REQUIRE(parts.empty() == name.empty());
  std::uint64_t end = 0;
  for (const NamePart& part : parts) {
    REQUIRE(part.begin >= end);
    REQUIRE(part.size != 0);
    end = std::uint64_t{part.begin} + part.size;
  }
  REQUIRE(end <= name.size());
  REQUIRE((parts.empty() || parts.front().starts));
}

void check_all_details(std::string_view name) {
  std::size_t last = 0;
  for (const NameDetail detail :
       {NameDetail::kShort, NameDetail::kParameters, NameDetail::kOwnArguments,
        NameDetail::kArguments, NameDetail::kWhole}) {
    check_parts(name, detail);
    const std::size_t size = short_name(name, detail).size();
    REQUIRE(size >= last);
    last = size;
  }
  REQUIRE(last == name.size());
}

}  // namespace

TEST_CASE("names of six languages are shortened as the table says") {
  const std::vector<RecordedName> names = recorded_names();
  std::map<std::string, int> languages;
  for (const RecordedName& recorded : names) {
    CAPTURE(recorded.name);
    CHECK(short_name(recorded.name) == recorded.shown);
    check_all_details(recorded.name);
    ++languages[recorded.language];
  }
  CHECK(names.size() >= 300);
  CHECK(languages.size() >= 6);
}

TEST_CASE("what a name is called stays, what it is called with goes") {
  struct Case {
    std::string_view name;
    std::string_view shown;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {"main", "main"},
      {"f(int)", "f"},
      {"alloc::slice::<impl [T]>::sort_by", "alloc::slice::<impl [T]>::sort_by"},
      {"encoding/json.(*decodeState).object", "encoding/json.(*decodeState).object"},
      {"main.(*List[go.shape.int_0]).Push", "main.(*List).Push"},
      {"std::unordered_map<K, std::vector<V> >::operator[](K const&)",
       "std::unordered_map::operator[]"},
      {"bool std::operator< <char>(S<char> const&, S<char> const&)", "std::operator<"},
      {"ns::C<int>::operator std::vector<int>() const", "ns::C::operator std::vector"},
      {"operator new[](unsigned long)", "operator new[]"},
      {"(anonymous namespace)::f(int)", "f"},
      {"ns::(anonymous namespace)::C::g() const", "ns::C::g"},
      {"`anonymous namespace'::f", "f"},
      {"f(int) const::{lambda(int)#2}::operator()(int) const", "f::{lambda#2}::operator()"},
      {"f(int) [clone .cold]", "f"},
      {"f(int) (.cold)", "f"},
      {"ns::f(int) const && [clone .part.0]", "ns::f"},
      {"f(int) const&", "f"},
      {"f(int) volatile::g(int)", "f::g"},
      {"f<int>(int) requires C<int>", "f"},
      {"f(int) -> int", "f"},
      {"app.f(int) pure nothrow @nogc @safe", "app.f"},
      {"f()", "f"},
      {"f.constprop.0", "f.constprop.0"},
      {"void ns::f<&ns::operator-> >(int (*)(int))", "ns::f"},
      {"decltype ((a)(b)) ns::f<int>(int)", "ns::f"},
      {"decltype (::new ((void*)(0)) ns::T((declval<ns::T>)())) std::construct_at<ns::T>(ns::T*)",
       "std::construct_at"},
      {"decltype (f(0))", "decltype (f(0))"},
      {"public: virtual void __cdecl ns::C::f(int) __ptr64", "ns::C::f"},
      {"std::to_string[abi:cxx11](int)", "std::to_string"},
      {"non-virtual thunk to ns::C::f(int)", "non-virtual thunk to ns::C::f"},
      {"<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", "<Vec as Debug>::fmt"},
      {"<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec::push"},
      {"core::slice::sort::<u64, <u64 as Ord>::lt>", "core::slice::sort"},
      {"core::fmt::num::imp::<impl core::fmt::Display for u32>::fmt",
       "core::fmt::num::imp::<impl Display for u32>::fmt"},
      {"a::b::h0123456789abcdef", "a::b"},
      {"a::b::h0123456789abcdeX", "a::b::h0123456789abcdeX"},
      {"instance void [System.Private.CoreLib] System.Threading.Thread::Start()[OptimizedTier1]",
       "System.Threading.Thread::Start"},
      {"void [app] Program::<Main>$(string[])[Tier0]", "Program::<Main>$"},
      {"System.Collections.Generic.Dictionary`2[System.__Canon,System.Int32]::get_Item(!0)",
       "System.Collections.Generic.Dictionary::get_Item"},
      {"Program+<RunAsync>d__3.MoveNext", "Program+<RunAsync>d__3.MoveNext"},
      {"System.Object..ctor()", "System.Object..ctor"},
      {"(wrapper runtime-invoke) <Module>:invoke (object,intptr)", "<Module>:invoke"},
      {"void java.util.List.<init>(int)", "java.util.List.<init>"},
      {"JS:*get area /srv/my app/t.js:3:13", "JS:*get area"},
      {"LazyCompile:~ /srv/app/t.js:3:13", "LazyCompile:~ t.js:3:13"},
      {"value /srv/parser.js:10:8", "value"},
      {"app.map!((x) => x > 3).map(int)", "app.map"},
      {"const(char)[] app.text(int)", "app.text"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    CHECK(short_name(one.name) == one.shown);
    check_all_details(one.name);
  }
}

TEST_CASE("what is no name of these languages stays whole") {
  for (const std::string_view name : {"a < b",
                                      "GC pause (major)",
                                      "StubRoutines (1)",
                                      "reading the file",
                                      "[libc.so.6]",
                                      "[broken callstack]",
                                      "(deleted)",
                                      "<anonymous>",
                                      "std::vector<int",
                                      "f(",
                                      ")",
                                      "worker[3]",
                                      "kernel32.dll!CreateFile",
                                      "RegExp:^(a|b)+[c-d]*$",
                                      "type:.eq.[2]interface {}",
                                      "caf\xc3\xa9",
                                      "\xe6\xbc\xa2\xe5\xad\x97",
                                      "::",
                                      "memcpy@@GLIBC_2.14",
                                      "<b>born</b>",
                                      "<i>a</i>::f(int)",
                                      "ns::f<a/b>::g</a>(int)",
                                      "a<b>c",
                                      "List<int>1",
                                      "alert(1)",
                                      "open(2)",
                                      "print(\"x\")",
                                      "count(x) from y",
                                      "f(int) constant"}) {
    CAPTURE(name);
    CHECK(short_name(name) == name);
    check_all_details(name);
  }
}

TEST_CASE("a shorter name starts at a namespace, never within a function's own words") {
  const auto starts_of = [](std::string_view name) {
    const std::vector<NamePart> parts = name_parts(name);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].starts) {
        names.push_back(text_of_parts(name, std::span(parts).subspan(i)));
      }
    }
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(starts_of("ns::C<int>::f(int)") == Names{"ns::C::f", "C::f", "f"});
  CHECK(starts_of("ns::C<int>::operator[](int)") == Names{"ns::C::operator[]", "C::operator[]"});
  CHECK(starts_of("a/b.(*T[int]).M") == Names{"a/b.(*T).M", "b.(*T).M", "(*T).M"});
  CHECK(starts_of("a::b::{{closure}}") == Names{"a::b::{{closure}}", "b::{{closure}}"});
  CHECK(starts_of("int java.util.Map.get(int)") ==
        Names{"java.util.Map.get", "util.Map.get", "Map.get"});
  CHECK(starts_of("f.isra.0") == Names{"f.isra.0"});
}

TEST_CASE("every beginning of a name has parts") {
  for (const RecordedName& recorded : recorded_names()) {
    for (std::size_t size = 0; size <= recorded.name.size(); ++size) {
      check_parts(std::string_view(recorded.name).substr(0, size), NameDetail::kShort);
    }
  }
}

TEST_CASE("brackets without end take neither the stack nor long") {
  constexpr std::size_t kMany = 100'000;
  for (const std::string_view open : {"(", "<", "[", "{", "<a::(", "{(", "a!(", "a ", "a.",
                                      "a::", "operator<", "\"", "`", "<T as "}) {
    std::string name;
    for (std::size_t i = 0; i < kMany; ++i) {
      name += open;
    }
    check_parts(name, NameDetail::kShort);
  }
  for (const std::string_view pair : {"()", "<>", "[]", "{}"}) {
    const std::string nested =
        "f" + std::string(kMany, pair[0]) + "x" + std::string(kMany, pair[1]);
    check_parts(nested, NameDetail::kShort);
    check_parts("::" + nested.substr(1), NameDetail::kParameters);
  }
}

TEST_CASE("two different functions never have one text, and have no more than that takes") {
  const std::vector<std::string_view> names = {
      "std::vector<int>::push_back(int)",
      "std::vector<int>::push_back(int&&)",
      "std::vector<int>::size() const",
      "ns::S<int>::f(int)",
      "ns::S<long>::f(int)",
      "ns::P<int>::step<0ul>(int) const",
      "ns::P<int>::step<1ul>(int) const",
      "a::b::h0123456789abcdef",
      "a::b::h0123456789abcde0",
      "int g<int>(int)",
      "long g<int>(int)",
      "main",
      "main",
  };
  const std::vector<NameDetail> details = distinct_details(names);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    texts.push_back(short_name(names[i], details[i]));
  }
  CHECK(texts == std::vector<std::string>{"std::vector::push_back(int)",
                                          "std::vector::push_back(int&&)", "std::vector::size",
                                          "ns::S<int>::f(int)", "ns::S<long>::f(int)",
                                          "ns::P::step<0ul>(int)", "ns::P::step<1ul>(int)",
                                          "a::b::h0123456789abcdef", "a::b::h0123456789abcde0",
                                          "int g<int>(int)", "long g<int>(int)", "main", "main"});
}

TEST_CASE("names that are alike stay apart whatever they become") {
  // Each is what the one before it becomes.
  std::vector<std::string> chain = {"f"};
  for (int i = 0; i < 20; ++i) {
    chain.push_back(chain.back() + "(int)");
  }
  for (const RecordedName& recorded : recorded_names()) {
    chain.push_back(recorded.name);
    chain.push_back(recorded.shown);
  }
  const std::vector<std::string_view> names(chain.begin(), chain.end());
  const std::vector<NameDetail> details = distinct_details(names);
  std::map<std::string, std::string_view> owners;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string text = short_name(names[i], details[i]);
    CAPTURE(text);
    CHECK(owners.try_emplace(text, names[i]).first->second == names[i]);
  }
}
