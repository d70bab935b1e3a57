#include "symbolize/elf_symbols.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace stackpack::symbolize {

namespace {

ElfSymbol symbol_at(std::uint64_t start, std::uint64_t size, std::uint8_t binding,
                    std::string_view name) {
  return {start, size, 0, FunctionSource::kSymtab, binding, name};
}

}  // namespace

TEST_CASE(
    "elf symbols: of aliases the longest, the global, the shortest name, the first by bytes") {
  ElfSymbols symbols;
  symbols.add(symbol_at(0x10, 4, 0, "short"));
  symbols.add(symbol_at(0x10, 8, 2, "local_long"));
  symbols.add(symbol_at(0x10, 8, 1, "weak_long"));
  symbols.add(symbol_at(0x10, 8, 0, "global_longer"));
  symbols.add(symbol_at(0x10, 8, 0, "global_b"));
  symbols.add(symbol_at(0x10, 8, 0, "global_a"));
  symbols.settle();
  REQUIRE(symbols.functions().size() == 1);
  CHECK(symbols.functions().front().name == "global_a");
  CHECK(symbols.functions().front().size == 8);
}

TEST_CASE("elf symbols: an address belongs to the function that begins last, or to none") {
  ElfSymbols symbols;
  symbols.add(symbol_at(0x100, 0x100, 0, "outer"));
  symbols.add(symbol_at(0x120, 0x10, 0, "inner"));
  symbols.add(symbol_at(0x1f0, 0x20, 0, "across"));
  symbols.add(symbol_at(0x300, 0x10, 0, "apart"));
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
  const auto without_size = [](std::uint64_t start, std::uint64_t room, std::string_view name) {
    return ElfSymbol{start, 0, room, FunctionSource::kSymtab, 0, name};
  };
  ElfSymbols symbols;
  symbols.add(without_size(0x100, 0x80, "to_next"));
  symbols.add(symbol_at(0x140, 0x10, 0, "next"));
  symbols.add(without_size(0x140, 0x40, "alias_of_next"));
  symbols.add(without_size(0x170, 0x10, "to_end"));
  symbols.add(symbol_at(0x200, 0x10, 0, "elsewhere"));
  symbols.settle();
  REQUIRE(symbols.functions().size() == 4);
  CHECK(symbols.functions()[0].size == 0x40);
  CHECK(symbols.functions()[1].name == "next");
  CHECK(symbols.functions()[2].name == "to_end");
  CHECK(symbols.functions()[2].size == 0x10);
}

}  // namespace stackpack::symbolize
