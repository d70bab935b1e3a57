// Unwind tables of an ELF file: whatever the bytes, every address has an answer, in bounded steps.
#include <cstdint>
#include <span>
#include <utility>

#include "fuzz/require.h"
#include "io/byte_source.h"
#include "unwind/code_tables.h"

namespace stackpack::fuzz {

void unwind_elf(std::span<const std::byte> data) {
  constexpr std::uint64_t kSteps = 200'000;
  constexpr unsigned kAsked = 256;
  const auto file = io::source_of_memory(data);
  Result<unwind::ElfLayout> layout = unwind::read_elf_layout(*file);
  if (!layout) {
    return;
  }
  unwind::RuleTable rules(layout->machine);
  const auto code = layout->code;
  const std::uint64_t entry = layout->entry;
  unwind::CodeTables tables(std::move(*layout), {}, kSteps);
  const auto ask = [&](std::uint64_t address) {
    const unwind::CodeTables::Found found = tables.find(address, rules);
    require((found.answer == unwind::TableAnswer::kRule) == (found.rule < rules.size()));
  };
  ask(entry);
  std::size_t segments = 0;
  for (const unwind::ElfLayout::CodeSegment& segment : code) {
    for (unsigned i = 0; segments < 4 && i < kAsked; ++i) {
      ask(segment.address + segment.bytes / kAsked * i + i);
      ask(segment.address + i);
    }
    ++segments;
  }
  require(tables.steps_left() <= kSteps);
}

}  // namespace stackpack::fuzz
