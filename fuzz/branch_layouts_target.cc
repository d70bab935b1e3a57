// Hostile binaries: maps of basic blocks and tables of symbols are read, or refused, and layouts of
// their functions name every block at most once.
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>

#include "app/branches/bolt_samples.h"
#include "app/branches/propeller_profile.h"
#include "fuzz/require.h"
#include "io/byte_source.h"
#include "symbolize/block_map.h"
#include "symbolize/symbol_table.h"

namespace stackpack::fuzz {

namespace {

constexpr std::size_t kMostFuzzedBlocks = 4096;

// Every block runs into the next one and jumps to one further on.
app::PlacedBranches branches_of(const symbolize::BlockMap& map) {
  app::PlacedBranches placed;
  for (std::size_t i = 0; i < map.blocks.size() && i < kMostFuzzedBlocks; ++i) {
    const symbolize::CodeBlock& next = map.blocks[(i + 1) % map.blocks.size()];
    const symbolize::CodeBlock& far = map.blocks[(7 * i + 3) % map.blocks.size()];
    placed.ranges[{map.blocks[i].address, next.address}] += 1 + i % 5;
    placed.edges[{map.blocks[i].address, far.address}].count += 1 + i % 3;
  }
  return placed;
}

}  // namespace

void branch_layouts(std::span<const std::byte> data) {
  const auto file = io::source_of_memory(data);
  const Result<symbolize::SymbolTable> symbols = symbolize::SymbolTable::read(*file);
  if (!symbols) {
    return;
  }
  std::uint64_t before = 0;
  for (const app::BoltFunction& function : app::bolt_functions(*symbols)) {
    require(function.address >= before && function.end >= function.address);
    before = function.address;
  }
  const Result<symbolize::BlockMap> map = symbolize::read_block_map(*file);
  if (!map) {
    return;
  }
  const app::PropellerProfile profile = app::propeller_profile(branches_of(*map), *map, *symbols);
  std::istringstream lines(profile.clusters);
  std::string line;
  std::uint64_t functions = 0;
  std::size_t blocks = 0;
  while (std::getline(lines, line)) {
    functions += line.starts_with("f ") ? 1U : 0U;
    if (line.starts_with("c ")) {
      for (const char c : line) {
        blocks += c == ' ' ? 1U : 0U;
      }
    }
  }
  require(functions == profile.functions && blocks <= map->blocks.size());
}

}  // namespace stackpack::fuzz
