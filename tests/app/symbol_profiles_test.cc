// Profiles that know functions: BOLT's of samples, and orders of blocks and functions.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/branches/bolt_samples.h"
#include "app/branches/propeller_profile.h"
#include "app/branches/weighted_chains.h"
#include "support/elf_maker.h"

using namespace stackpack;
using test::TestBytes;

namespace {

constexpr std::uint64_t kCode = 0x1000;
constexpr std::uint64_t kCodeBytes = 0x400;

struct MadeSymbol {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint8_t type = STT_FUNC;
  std::uint8_t binding = STB_GLOBAL;
  std::uint16_t section = 1;  // .text; 2 is .data
};

symbolize::SymbolTable table_of(const std::vector<MadeSymbol>& symbols) {
  TestBytes rows;
  TestBytes names;
  rows.zeros(24);
  names.u8(0);
  for (const MadeSymbol& symbol : symbols) {
    rows.u32(static_cast<std::uint32_t>(names.bytes.size()));
    rows.u8(static_cast<std::uint8_t>(symbol.binding << 4U | symbol.type)).u8(0);
    rows.u16(symbol.section).u64(symbol.address).u64(symbol.bytes);
    names.text(symbol.name).u8(0);
  }
  test::ElfMaker maker;
  maker.sections.push_back({".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
                            TestBytes().zeros(kCodeBytes).bytes, kCode, 0});
  maker.sections.push_back(
      {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, TestBytes().zeros(64).bytes, 0x9000, 0});
  maker.sections.push_back({".symtab", SHT_SYMTAB, 0, rows.bytes, 0, 4});
  maker.sections.push_back({".strtab", SHT_STRTAB, 0, names.bytes, 0, 0});
  const std::vector<std::byte> file = maker.file();
  auto table = symbolize::SymbolTable::read(*io::source_of_memory(file));
  REQUIRE(table.has_value());
  return std::move(*table);
}

std::string text_of(const std::vector<app::BoltFunction>& functions) {
  std::string text;
  for (const app::BoltFunction& function : functions) {
    text += function.name + " " + std::to_string(function.address - kCode) + "-" +
            std::to_string(function.end - kCode) + "\n";
  }
  return text;
}

symbolize::ElfIdentity identity() {
  symbolize::ElfIdentity elf;
  elf.segments = {{.offset = 0x100,
                   .address = kCode,
                   .file_bytes = kCodeBytes,
                   .memory_bytes = kCodeBytes,
                   .executable = true}};
  return elf;
}

// main: blocks 0 to 3 of 16 bytes; helper behind it: blocks 0, 1.
symbolize::BlockMap two_functions() {
  symbolize::BlockMap map;
  map.entries = {kCode, kCode + 0x100};
  for (std::uint32_t i = 0; i < 4; ++i) {
    map.blocks.push_back({kCode + 16 * i, 16, i, 0});
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    map.blocks.push_back({kCode + 0x100 + 16 * i, 16, i, 1});
  }
  return map;
}

}  // namespace

TEST_SUITE("profiles by symbols") {
  TEST_CASE("local functions are numbered among all local symbols of their name, by address") {
    const symbolize::SymbolTable table = table_of({{"step", kCode + 0x80, 8, STT_FUNC, STB_LOCAL},
                                                   {"step", kCode + 0x40, 8, STT_FUNC, STB_LOCAL},
                                                   {"step", 0x9000, 8, STT_OBJECT, STB_LOCAL, 2},
                                                   {"inside", kCode + 4, 0, STT_NOTYPE, STB_LOCAL},
                                                   {"main", kCode, 0x20},
                                                   {"alias", kCode, 0x20},
                                                   {"asm_code", kCode + 0x20, 0, STT_NOTYPE},
                                                   {"step", kCode + 0xC0, 8, STT_FUNC, STB_LOCAL},
                                                   {"", kCode, 0, STT_SECTION, STB_LOCAL}});
    CHECK(text_of(app::bolt_functions(table)) ==
          "main 0-32\nasm_code 32-64\nstep/1 64-128\nstep/2 128-192\nstep/3 192-1024\n");
  }

  TEST_CASE("samples are lines by function and offset, in padding behind it, too") {
    const symbolize::SymbolTable table =
        table_of({{"main", kCode + 0x10, 4}, {"odd name", kCode + 0x40, 4}});
    const app::BoltSamples made =
        app::bolt_samples({{0x104, 3}, {0x112, 5}, {0x120, 7}, {0x150, 1}, {0x900, 9}},
                          std::vector<std::string>{"cycles", "page-faults"}, identity(), table);
    CHECK(made.text == "no_lbr cycles: page-faults:\n1 main 2 5\n1 main 10 7\n1 odd\\ name 10 1\n");
    CHECK(made.outside == 3);
    CHECK(made.unplaced == 9);
  }

  TEST_CASE("hot blocks follow their heaviest edges, functions those that call them") {
    app::PlacedBranches placed;
    // Block 0 jumps to 2 most of the time and goes on with 1 now and then; 3 never runs.
    placed.ranges = {{{kCode, kCode + 8}, 90},
                     {{kCode, kCode + 16 + 8}, 10},
                     {{kCode + 32, kCode + 40}, 100},
                     {{kCode + 0x110, kCode + 0x118}, 50},
                     {{kCode + 0x300, kCode + 0x304}, 4}};
    placed.edges = {{{kCode + 8, kCode + 32}, {90, 0}},
                    {{kCode + 16 + 8, kCode + 32}, {10, 0}},
                    {{kCode + 40, kCode + 0x100}, {50, 0}},
                    {{kCode + 0x108, kCode + 0x110}, {50, 0}}};
    const symbolize::SymbolTable table = table_of(
        {{"main", kCode, 64}, {"helper", kCode + 0x100, 32}, {"helper_alias", kCode + 0x100, 32}});
    const app::PropellerProfile made = app::propeller_profile(placed, two_functions(), table);
    CHECK(made.clusters == "v1\nf main\nc 0 2 1\nf helper helper_alias\nc 0 1\n");
    CHECK(made.order == "main\nhelper\nhelper_alias\nmain.cold\n");
    CHECK(made.functions == 2);
    CHECK(made.outside == 4);
  }

  TEST_CASE("functions that share their name have no profile") {
    app::PlacedBranches placed;
    placed.ranges = {{{kCode, kCode + 8}, 9}, {{kCode + 0x100, kCode + 0x108}, 9}};
    const symbolize::SymbolTable table = table_of({{"same", kCode, 64, STT_FUNC, STB_LOCAL},
                                                   {"same", kCode + 0x100, 32, STT_FUNC, STB_LOCAL},
                                                   {"other", kCode + 0x100, 32}});
    const app::PropellerProfile made = app::propeller_profile(placed, two_functions(), table);
    CHECK(made.clusters == "v1\nf other\nc 0\n");
    CHECK(made.unnamed == 1);
  }

  TEST_CASE("a chain begins with the entry, whatever jumps to it") {
    const std::vector<app::ClusterItem> items{{1, 4}, {50, 4}, {50, 4}};
    const std::vector<app::WeightedEdge> edges{{1, 2, 40}, {2, 1, 49}, {2, 0, 90}, {0, 1, 1}};
    CHECK(app::chain_blocks(items, edges, 0) == std::vector<std::uint32_t>{0, 2, 1});
  }

  TEST_CASE("clusters of callers stay below their size, and do not become cold") {
    const std::vector<app::ClusterItem> items{{100, 10}, {90, 10}, {1, 10'000}, {80, 10}};
    const std::vector<app::WeightedEdge> calls{{0, 3, 9}, {1, 3, 5}, {0, 2, 9}, {3, 3, 99}};
    CHECK(app::cluster_calls(items, calls, 1 << 20) == std::vector<std::uint32_t>{0, 3, 1, 2});
    CHECK(app::cluster_calls(items, calls, 15) == std::vector<std::uint32_t>{0, 1, 3, 2});
  }
}
