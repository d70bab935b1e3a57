#include "symbolize/demangler.h"

#include <string>

#include <doctest/doctest.h>

namespace stackpack::symbolize {

namespace {

std::string repeat(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

// Each parameter is a pointer to a member made of two of the one before.
std::string growing_itanium_name(int doublings) {
  std::string name = "_Z1f1aMS_S_";
  for (int i = 0; i < doublings; ++i) {
    const std::string reference = "S" + std::to_string(i) + "_";
    name += "M" + reference + reference;
  }
  return name;
}

}  // namespace

TEST_CASE("demangler: names of C++, Rust and D") {
  struct Case {
    const char* linked;
    const char* expected;
  };
  const Case cases[] = {
      {"_ZN3foo3barEi", "foo::bar(int)"},
      {"_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size() const"},
      {"_ZN3foo3barEi.part.0", "foo::bar(int) [clone .part.0]"},
      {"_ZN3foo3barEi@plt", "foo::bar(int)@plt"},
      {"malloc@plt", ""},
      {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
      {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
      {"_RNvMs0_NtCs5l0EXMQXRMU_8rust_lib3netNtB5_4Conn4read", "<rust_lib::net::Conn>::read"},
      {"_D4test3fooAa", "test.foo"},
      {"_D8demangle4testFaZv", "demangle.test(char)"},
      {"_D3std5array8appenderFNaNbNfAyaZSQBcQBc8AppenderTQn", ""},
      {"main", ""},
      {"_Z", ""},
      {"_Zmain", ""},
      {"_R", ""},
      {"", ""},
  };
  Demangler demangler;
  for (const Case& example : cases) {
    CAPTURE(example.linked);
    CHECK(demangler.demangle(example.linked) == example.expected);
  }
  CHECK(demangler.demangle(std::string_view("_Z3foo\0v", 8)).empty());
  Demangler fits(10);
  CHECK(fits.demangle("_Z4foo_v") == "foo_()");
  CHECK(fits.demangle("_Z4foo_v@plt") == "foo_()@plt");
  CHECK(fits.demangle("_Z5foo__v@plt").empty());
}

TEST_CASE("demangler: lambdas within lambdas, where it was built with LLVM") {
  Demangler demangler;
  const std::string_view readable = demangler.demangle(
      "_ZZZN3jkj9dragonbox10to_decimalIfNS0_20default_float_traitsIfEEJNS0_6detail11policy_"
      "impl4sign"
      "6ignoreENS5_13trailing_zero6removeEEEEDaNS0_23signed_significand_bitsIT_T0_EEjDpT1_ENKUlSC_"
      "E_"
      "clINS5_26decimal_to_binary_rounding15nearest_to_evenEEESA_SC_ENKUlDpT_E_clIJEEESA_SM_");
  CHECK((readable.find("to_decimal<float") != std::string_view::npos) ==
        demangles_microsoft_names());
}

TEST_CASE("demangler: what only LLVM reads stays small, too") {
  Demangler demangler;
  // A constraint at the end is what libiberty does not know.
  for (const int doublings : {2, 12, 40, 400}) {
    const std::string name = growing_itanium_name(doublings) + "Q1CIiE";
    const std::string_view readable = demangler.demangle(name);
    CHECK(readable.size() <= std::size_t{64} << 10);
    CHECK((doublings <= 2 || readable.empty()));
  }
  CHECK(demangler.demangle("_Z1fI" + std::string(4000, 'P') + "iEvvQ1CIiE").size() < 5000);
}

TEST_CASE("demangler: names of Microsoft's compiler, where it was built with the means") {
  struct Case {
    const char* linked;
    const char* expected;
  };
  const Case cases[] = {
      {"?foo@@YAXH@Z", "foo(int)"},
      {"?RequestDump@CrashGenerationClient@google_breakpad@@QAE_NPAU_EXCEPTION_POINTERS@@PAUMDRaw"
       "AssertionInfo@@@Z",
       "google_breakpad::CrashGenerationClient::RequestDump(struct _EXCEPTION_POINTERS *, struct "
       "MDRawAssertionInfo *)"},
      {"?", ""},
      {"?foo", ""},
  };
  Demangler demangler;
  for (const Case& example : cases) {
    CAPTURE(example.linked);
    const std::string_view readable = demangler.demangle(example.linked);
    CHECK(readable == (demangles_microsoft_names() ? example.expected : ""));
  }
}

TEST_CASE("demangler: a short name that stands for a long one stays as linked") {
  Demangler demangler;
  CHECK(!demangler.demangle(growing_itanium_name(5)).empty());
  CHECK(demangler.demangle(growing_itanium_name(30)).empty());
  // Types of a D function, each of which refers to all of those before, twice.
  std::string d_name = "_D1a1fF";
  for (int i = 0; i < 40; ++i) {
    d_name += "DFQdQfZv";
  }
  CHECK(demangler.demangle(d_name + "Zv").empty());
  // A Rust name with references to references.
  std::string rust_name = "_RNvC1a1f";
  for (int i = 0; i < 40; ++i) {
    rust_name = "_RI" + rust_name.substr(2) + "TB_B_EE";
  }
  CHECK(demangler.demangle(rust_name).empty());
  std::string microsoft_name = "?f@@YAXP6AXHH@Z";
  for (int i = 0; i < 9; ++i) {
    microsoft_name += "P6AX" + repeat(std::to_string(i), 9) + "@Z";
  }
  CHECK(demangler.demangle(microsoft_name + "@Z").empty());
}

TEST_CASE("demangler: the bound is that of the readable name, to the byte") {
  const std::string name = "foo::bar(int)";
  CHECK(Demangler(name.size()).demangle("_ZN3foo3barEi") == name);
  CHECK(Demangler(name.size() - 1).demangle("_ZN3foo3barEi").empty());
  // After one that was too long the next is as good as ever.
  Demangler demangler(name.size());
  CHECK(demangler.demangle("_ZN3foo3barEii").empty());
  CHECK(demangler.demangle("_ZN3foo3barEi") == name);
}

TEST_CASE("demangler: long names are read, and those that are deeper than a stack are not") {
  Demangler demangler;
  const std::string identifier(3000, 'x');
  CHECK(demangler.demangle("_Z3000" + identifier + "v") == identifier + "()");
  for (const char* nested : {"P", "1aI", "PF", "M1a", "A2_", "U1x", "Dp"}) {
    CAPTURE(nested);
    for (const std::size_t bytes : {std::size_t{900}, std::size_t{3000}, std::size_t{16000}}) {
      const std::string deep = "_Z1f" + repeat(nested, bytes / std::string_view(nested).size());
      (void)demangler.demangle(deep + "i");
      (void)demangler.demangle(deep + "i" + repeat("E", 200));
    }
  }
  CHECK(demangler.demangle("_Z1f" + repeat("P", Demangler::kMostLinkedBytes)).empty());
  (void)demangler.demangle("_D1a1f" + repeat("P", 4000) + "i");
  (void)demangler.demangle("?f@@YAX" + repeat("PEA", 1200) + "H@Z");
  (void)demangler.demangle("_RINvC1a1f" + repeat("R", 16000) + "hE");
}

}  // namespace stackpack::symbolize
