// A bundle: whatever the archive, every entry is a file of its build id or is refused and counted,
// and what is found has tables that answer.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/require.h"
#include "io/byte_source.h"
#include "symbolize/elf_identity.h"
#include "symbolize/symbol_bundle.h"
#include "symbolize/symbol_files.h"
#include "unwind/code_tables.h"

namespace stackpack::fuzz {

void symbol_bundle(std::span<const std::byte> data) {
  const auto bundle = symbolize::SymbolBundle::open(io::source_of_memory(data), "bundle");
  if (!bundle) {
    return;
  }
  constexpr std::size_t kMostAsked = 8;
  const std::vector<std::vector<std::uint8_t>> ids = (*bundle)->build_ids();
  std::size_t found = 0;
  for (std::size_t i = 0; i < std::min(ids.size(), kMostAsked); ++i) {
    const std::uint64_t refused = (*bundle)->refused();
    const io::Descriptor file = (*bundle)->find(ids[i]);
    require(static_cast<bool>(file) == ((*bundle)->refused() == refused) || ids[i].size() < 2);
    if (!file) {
      continue;
    }
    ++found;
    const auto source = io::source_of_descriptor(file.get());
    const auto identity = symbolize::read_elf_identity(*source);
    require(identity.has_value() && identity->build_id == ids[i] && !identity->has_dwarf);
    if (Result<unwind::ElfLayout> layout = unwind::read_elf_layout(*source)) {
      unwind::RuleTable rules(layout->machine);
      const std::uint64_t entry = layout->entry;
      static_cast<void>(unwind::CodeTables(std::move(*layout), {}, 100'000).find(entry, rules));
    }
  }
  require((*bundle)->refused() + found <= std::min(ids.size(), kMostAsked));
}

}  // namespace stackpack::fuzz
