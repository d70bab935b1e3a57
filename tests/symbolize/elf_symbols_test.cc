#include "symbolize/elf_symbols.h"

#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

namespace stackpack::symbolize {

namespace {

constexpr AliasRank kGlobal{};
constexpr AliasRank kWeak{false, false, true, true};
constexpr AliasRank kLocal{false, false, false, true};
constexpr AliasRank kLocalLabel{true, true, false, true};

ElfSymbol symbol_at(std::uint64_t start, std::uint64_t size, AliasRank rank,
                    std::string_view name) {
  return {start, size, 0, FunctionSource::kSymtab, rank, name};
}

ElfSymbol without_size(std::uint64_t start, std::uint64_t room, std::string_view name,
                       AliasRank rank = {true, false, false, false}) {
  return {start, 0, room, FunctionSource::kSymtab, rank, name};
}

// Which of two symbols at one address counts, whichever comes first.
std::string better_of(ElfSymbol one, ElfSymbol other) {
  std::string better;
  for (int turn = 0; turn < 2; ++turn, std::swap(one, other)) {
    ElfSymbols symbols;
    symbols.add(one);
    symbols.add(other);
    symbols.settle();
    REQUIRE(symbols.functions().size() == 1);
    const std::string name(symbols.functions().front().name);
    CHECK((better.empty() || better == name));
    better = name;
  }
  return better;
}

}  // namespace

TEST_CASE("elf symbols: of aliases the one counts that perf shows") {
  const auto at = [](AliasRank rank, std::string_view name) {
    return symbol_at(0x10, 8, rank, name);
  };
  CHECK(better_of(without_size(0x10, 8, "sizeless"), at(kWeak, "w")) == "w");
  CHECK(better_of(at({false, true, false, false}, "label"), at(kWeak, "w")) == "w");
  CHECK(better_of(at(kLocal, "local"), at(kWeak, "weak_longer")) == "local");
  CHECK(better_of(at(kLocal, "local_longer"), at(kGlobal, "global")) == "global");
  CHECK(better_of(at(kGlobal, "__GI___libc_write"), at(kGlobal, "write")) == "write");
  CHECK(better_of(at(kGlobal, "memmove"), at(kGlobal, "copy")) == "memmove");
  CHECK(better_of(at(kGlobal, "SyS_read"), at(kGlobal, "sys_read")) == "sys_read");
  // What a linker made one: as people read them, and so without the underscores.
  CHECK(better_of(at(kGlobal, "_ZN1a1bEv"), at(kGlobal, "c_function_with_it")) ==
        "c_function_with_it");
  CHECK(better_of(at(kGlobal, "_ZN1a1bEv"), at(kGlobal, "_c_function_with_it")) == "_ZN1a1bEv");
}

TEST_CASE("elf symbols: of equal aliases the first in the table counts, as long as the longest") {
  ElfSymbols symbols;
  symbols.add(symbol_at(0x10, 8, kGlobal, "memmove"));
  symbols.add(symbol_at(0x10, 8, kGlobal, "memcopy"));
  symbols.add(symbol_at(0x10, 24, kWeak, "longer"));
  symbols.settle();
  REQUIRE(symbols.functions().size() == 1);
  CHECK(symbols.functions().front().name == "memmove");
  CHECK(symbols.functions().front().size == 24);
  CHECK(symbols.aliases_of(symbols.functions().front()).size() == 2);
}

TEST_CASE("elf symbols: of thousands of names at one address the shortest are aliases") {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 3000; ++i) {
    texts.push_back("f" + std::string(i % 30, 'x') + std::to_string(i));
  }
  ElfSymbols symbols;
  for (const std::string& text : texts) {
    symbols.add(symbol_at(0x10, 8, kGlobal, text));
  }
  symbols.settle();
  const auto aliases = symbols.aliases_of(symbols.functions().front());
  CHECK(aliases.size() == ElfSymbols::kMostAliases);
  CHECK(aliases.front().name == "f0");
  CHECK(aliases.back().name.size() < 8);
}

TEST_CASE("elf symbols: what NASM calls a local label belongs to the code that it is in") {
  ElfSymbols symbols;
  symbols.add(without_size(0x100, 0x100, "code"));
  symbols.add(without_size(0x120, 0xe0, "code.loop", kLocalLabel));
  symbols.add(without_size(0x130, 0xd0, "code.part", {true, false, false, true}));
  symbols.add(without_size(0x140, 0xc0, "other", kLocalLabel));
  symbols.add(without_size(0x150, 0xb0, "code.of_no_other", kLocalLabel));
  symbols.settle();
  REQUIRE(symbols.functions().size() == 4);
  CHECK(symbols.functions()[0].size == 0x30);
  CHECK(symbols.functions()[1].name == "code.part");
  CHECK(symbols.functions()[2].size == 0x10);
  CHECK(symbols.functions()[3].name == "code.of_no_other");
}

TEST_CASE("elf symbols: an address belongs to the function that begins last, or to none") {
  ElfSymbols symbols;
  symbols.add(symbol_at(0x100, 0x100, kGlobal, "outer"));
  symbols.add(symbol_at(0x120, 0x10, kGlobal, "inner"));
  symbols.add(symbol_at(0x1f0, 0x20, kGlobal, "across"));
  symbols.add(symbol_at(0x300, 0x10, kGlobal, "apart"));
  symbols.settle();
  ElfSymbols::Sweep sweep(symbols);
  const auto name_at = [&sweep](std::uint64_t address) {
    const ElfSymbol* const symbol = sweep.find(address);
    return std::string(symbol == nullptr ? "-" : symbol->name);
  };
  CHECK(name_at(0x0ff) == "-");
  CHECK(name_at(0x100) == "outer");
  CHECK(name_at(0x125) == "inner");
  CHECK(name_at(0x130) == "outer");
  CHECK(name_at(0x1ff) == "across");
  CHECK(name_at(0x20f) == "across");
  CHECK(name_at(0x210) == "-");
  CHECK(name_at(0x2ff) == "-");
  REQUIRE(sweep.begins_at(0x300) != nullptr);
  CHECK(sweep.begins_at(0x300)->name == "apart");
  CHECK(sweep.begins_at(0x301) == nullptr);
  CHECK(name_at(0x310) == "-");
}

TEST_CASE("elf symbols: one without a size ends where the next begins, or its section ends") {
  ElfSymbols symbols;
  symbols.add(without_size(0x100, 0x80, "to_next"));
  symbols.add(symbol_at(0x140, 0x10, kGlobal, "next"));
  symbols.add(without_size(0x140, 0x40, "alias_of_next"));
  symbols.add(without_size(0x170, 0x10, "to_end"));
  symbols.add(symbol_at(0x200, 0x10, kGlobal, "elsewhere"));
  symbols.settle();
  REQUIRE(symbols.functions().size() == 4);
  CHECK(symbols.functions()[0].size == 0x40);
  CHECK(symbols.functions()[1].name == "next");
  CHECK(symbols.functions()[2].name == "to_end");
  CHECK(symbols.functions()[2].size == 0x10);
}

}  // namespace stackpack::symbolize
