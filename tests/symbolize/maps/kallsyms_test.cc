#include "symbolize/maps/kallsyms.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "symbolize/maps/named_rows.h"

namespace stackpack::symbolize {

namespace {

std::string kernel_names(std::string_view text, const std::vector<std::uint64_t>& addresses,
                         std::uint64_t slide = 0) {
  const std::vector<std::byte> bytes = test::bytes_of_text(text);
  const auto source = io::source_of_memory(bytes);
  const Result<Kallsyms> symbols = Kallsyms::read(*source);
  if (!symbols) {
    return message(symbols.error());
  }
  SymbolRequest request;
  request.addresses = addresses;
  CodeRange owner;
  owner.owner = FunctionOwner::kKernel;
  NameCollector names;
  symbols->name(request, slide, owner, names);
  return test::rows_text(std::move(names));
}

constexpr std::string_view kText =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000040 t helper_of_it\n"
    "ffffffff81000040 T helper\n"
    "ffffffff81000060 W weak\r\n"
    "ffffffff81000080 r table\n"
    "ffffffff81000100 T last\n"
    "ffffffff81000140 T _etext\n"
    "this is no symbol\n"
    "ffffffffc0001000 t in_module\t[nf_tables]\n"
    "ffffffffc0001020 t end_of_module\t[nf_tables]\n"
    "ffffffffc0009000 t other\t[ext4]\n";

}  // namespace

TEST_CASE("kallsyms: of functions at one address the one counts that perf shows of symbols") {
  constexpr std::string_view kAliases =
      "ffffffff81000100 t __do_sys_getpid\n"
      "ffffffff81000100 T __x64_sys_getpid\n"
      "ffffffff81000200 W weak_and_long\n"
      "ffffffff81000200 t local\n"
      "ffffffff81000300 T _one\n"
      "ffffffff81000300 T two\n"
      "ffffffff81000400 T SyS_read\n"
      "ffffffff81000400 T sys_read\n"
      "ffffffff81000500 T end\n";
  CHECK(kernel_names(kAliases, {0xffffffff81000100, 0xffffffff81000200, 0xffffffff81000300,
                                0xffffffff81000400}) ==
        "ffffffff81000100+100 __x64_sys_getpid, ffffffff81000200+100 local, "
        "ffffffff81000300+100 two, ffffffff81000400+100 sys_read");
}

TEST_CASE("kallsyms: a function ends where the next symbol begins, of whatever type") {
  CHECK(kernel_names(kText, {0xffffffff81000000, 0xffffffff8100003f}) ==
        "ffffffff81000000+40 _stext");
  CHECK(kernel_names(kText, {0xffffffff81000040}) == "ffffffff81000040+20 helper");
  CHECK(kernel_names(kText, {0xffffffff8100007f}) == "ffffffff81000060+20 weak");
  CHECK(kernel_names(kText, {0xffffffff81000080, 0xffffffff810000ff}).empty());
  CHECK(kernel_names(kText, {0xffffffff8100013f}) == "ffffffff81000100+40 last");
  CHECK(kernel_names(kText, {0xffffffff81000140, 0x1000}).empty());
}

TEST_CASE("kallsyms: the last function of a module ends with the next page") {
  CHECK(kernel_names(kText, {0xffffffffc0001000, 0xffffffffc0001021}) ==
        "ffffffffc0001000+20 in_module, ffffffffc0001020+1fe0 end_of_module");
  CHECK(kernel_names(kText, {0xffffffffc0002fff}) == "ffffffffc0001020+1fe0 end_of_module");
  CHECK(kernel_names(kText, {0xffffffffc0003000}).empty());
  CHECK(kernel_names(kText, {0xffffffffc000a000}) == "ffffffffc0009000+2000 other");
  CHECK(kernel_names("fffffffffffffff0 T top\n", {0xfffffffffffffff1}) == "fffffffffffffff0+f top");
}

TEST_CASE("kallsyms: a slide moves the file's addresses to those of the request") {
  CHECK(kernel_names(kText, {0xffffffff91000044}, 0x10000000) == "ffffffff91000040+20 helper");
}

TEST_CASE("kallsyms: what it says of itself") {
  const std::vector<std::byte> bytes = test::bytes_of_text(kText);
  const auto source = io::source_of_memory(bytes);
  const Result<Kallsyms> symbols = Kallsyms::read(*source);
  REQUIRE(symbols.has_value());
  CHECK(symbols->functions() == 7);
  CHECK(symbols->unread_lines() == 1);
  CHECK(!symbols->reference_address().has_value());
}

TEST_CASE("kallsyms: every symbol of the kernel is a reference, also one that names nothing") {
  struct Case {
    const char* name;
    std::uint64_t address;  // 0: none
  };
  const Case cases[] = {{"_text", 0xffffffff81000000},
                        {"_stext", 0xffffffff81000000},
                        {"helper_of_it", 0xffffffff81000040},
                        {"helper", 0xffffffff81000040},
                        {"table", 0xffffffff81000080},
                        {"_etext", 0xffffffff81000140},
                        {"fixed_percpu_data", 0},
                        {"in_module", 0},
                        {"missing", 0},
                        {"", 0}};
  const std::vector<std::byte> bytes = test::bytes_of_text(kText);
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const auto source = io::source_of_memory(bytes);
    const Result<Kallsyms> symbols = Kallsyms::read(*source, one.name);
    REQUIRE(symbols.has_value());
    CHECK(symbols->reference_address().value_or(0) == one.address);
    if (one.name != std::string_view("fixed_percpu_data")) {
      const auto again = io::source_of_memory(bytes);
      CHECK(Kallsyms::find(*again, one.name).value() == symbols->reference_address());
    }
  }
}

TEST_CASE("kallsyms: the reference is looked for no further than to where it stands") {
  const std::string rest(std::size_t{1} << 20, '\n');
  std::byte next{};
  struct Case {
    const char* start;
    const char* reference;
    bool to_the_end;
  };
  const Case cases[] = {{"ffffffff81000000 T _text\n", "_text", false},
                        {"0000000000000000 T _text\n", "_text", false},
                        {"ffffffff81000000 T _stext\n", "", false},
                        {"ffffffff81000000 T _stext\n", "_text", true}};
  for (const Case& one : cases) {
    CAPTURE(one.start);
    const std::vector<std::byte> bytes = test::bytes_of_text(one.start + rest);
    const auto source = io::source_of_memory(bytes);
    const auto found = Kallsyms::find(*source, one.reference);
    const bool is_hidden = std::string_view(one.start).starts_with("0000");
    CHECK(found.has_value() == !is_hidden);
    CHECK((source->read(std::span(&next, 1)).value() == 0) == one.to_the_end);
  }
}

TEST_CASE("kallsyms: of another start its modules say nothing") {
  CHECK(kernel_names(kText, {0xffffffffc0001000}) == "ffffffffc0001000+20 in_module");
  CHECK(kernel_names(kText, {0xffffffffc0002000}, 0x1000).empty());
}

TEST_CASE("kallsyms: hidden addresses are refused with what to do") {
  const std::string hidden =
      kernel_names("0000000000000000 T _text\n0000000000000000 T _stext\n", {});
  CHECK(hidden.find("kernel.kptr_restrict") != std::string::npos);
  CHECK(hidden.find("root") != std::string::npos);
  CHECK(kernel_names("", {}).find("no line") != std::string::npos);
  CHECK(kernel_names(std::string(200'000, 'x'), {}).find("no line") != std::string::npos);
}

TEST_CASE("kallsyms: a line that is too long costs itself") {
  const std::string text = "ffffffff81000000 T " + std::string(300'000, 'a') +
                           "\nffffffff81000040 T next\nffffffff81000080 T end\n";
  CHECK(kernel_names(text, {0xffffffff81000010, 0xffffffff81000044}) == "ffffffff81000040+40 next");
}

}  // namespace stackpack::symbolize
