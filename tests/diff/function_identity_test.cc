#include "diff/function_identity.h"

#include <string>

#include <doctest/doctest.h>

namespace stackpack::test {
namespace {

using diff::identity_of_function;
using diff::identity_of_module;

TEST_SUITE("identity of functions") {
  TEST_CASE("identity: what a build adds is dropped") {
    struct Case {
      const char* name;
      const char* exact;
    };
    for (const auto& [name, exact] : {
             Case{"foo", "foo"},
             {"foo.cold", "foo"},
             {"foo.cold.12", "foo"},
             {"foo.constprop.0.isra.1.cold", "foo"},
             {"foo.part.3.lto_priv.0", "foo"},
             {"foo.llvm.1234567890", "foo"},
             {"foo.__uniq.8123", "foo"},
             {"foo(int) [clone .cold]", "foo(int)"},
             {"foo(int) [clone .constprop.0] [clone .cold]", "foo(int)"},
             {"foo(int) [clone .isra.0.cold]", "foo(int)"},
             {"foo(int) [clone .avx2]", "foo(int) [clone .avx2]"},
             {"foo.avx2", "foo.avx2"},
             {"foo.colder", "foo.colder"},
             {".cold", ".cold"},
             {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
             {"core::fmt::write::h0123456789abcdeg", "core::fmt::write::h0123456789abcdeg"},
             {"<core[0123456789abcdef]::A as b[00112233]::B>::run", "<core::A as b::B>::run"},
             {"operator[](int)", "operator[](int)"},
             {"a[12]::b", "a[12]::b"},
             {"<lambda_0123456789abcdef0123456789abcdef>::operator()", "<lambda_>::operator()"},
             {"?A0x1234abcd::f", "?A0x::f"},
             {"IL_STUB_PInvoke(class X,pMT: 0A1D5224*)", "IL_STUB_PInvoke(class X,pMT: *)"},
         }) {
      CAPTURE(name);
      CHECK(identity_of_function(name).exact == exact);
    }
  }

  TEST_CASE("identity: lambdas by their number, and without") {
    struct Case {
      const char* name;
      const char* unnumbered;
    };
    for (const auto& [name, unnumbered] : {
             Case{"run()::{lambda(int)#2}::operator()(int) const",
                  "run()::{lambda(int)#}::operator()(int) const"},
             {"run()::$_12::operator()() const", "run()::$_::operator()() const"},
             {"run()::'lambda3'(int)::operator()(int)", "run()::'lambda'(int)::operator()(int)"},
             {"a::b::{closure#3}", "a::b::{closure#}"},
             {"run()::{lambda#1}::operator()()", "run()::{lambda#}::operator()()"},
             {"run<{lambda#14}>({lambda#14})", "run<{lambda#}>({lambda#})"},
             {"app::map<u32, app::run::{closure_env#1}>",
              "app::map<u32, app::run::{closure_env#}>"},
             {"app::poll<app::serve::{async_block_env#0}>",
              "app::poll<app::serve::{async_block_env#}>"},
             {"app::{impl#7}::next", "app::{impl#}::next"},
             {"main.run.func1.2", "main.run.func"},
             {"main.run.func1x", "main.run.func1x"},
             {"Program+<>c__DisplayClass1_0.<Main>b__3", "Program+<>c__DisplayClass.<Main>b__"},
             {"plain12(int)", "plain12(int)"},
         }) {
      CAPTURE(name);
      const diff::FunctionIdentity identity = identity_of_function(name);
      CHECK(identity.exact == name);
      CHECK(identity.unnumbered == unnumbered);
    }
  }

  TEST_CASE("identity: modules without their version") {
    struct Case {
      const char* name;
      const char* identity;
    };
    for (const auto& [name, identity] : {
             Case{"libz.so.1.2.13", "libz.so"},
             {"libc-2.31.so", "libc.so"},
             {"libLLVM-14.so.1", "libLLVM-14.so"},
             {"ld-linux-x86-64.so.2", "ld-linux-x86-64.so"},
             {"_json.cpython-311-x86_64-linux-gnu.so", "_json.cpython-311-x86_64-linux-gnu.so"},
             {"vmlinux-6.1.0-13-amd64", "vmlinux"},
             {"[kernel.kallsyms]", "[kernel.kallsyms]"},
             {"tool-1.2.exe", "tool.exe"},
             {"libx.so.bak", "libx.so.bak"},
             {"python3.11", "python3.11"},
             {"", ""},
         }) {
      CAPTURE(name);
      CHECK(identity_of_module(name) == identity);
    }
  }

  TEST_CASE("identity: long names take time in proportion") {
    std::string name;
    for (int i = 0; i < 100'000; ++i) {
      name += ".cold [clone ::{lambda(";
    }
    CHECK(identity_of_function(name).exact.size() > 1'000'000);
  }
}

}  // namespace
}  // namespace stackpack::test
