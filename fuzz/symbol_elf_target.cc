// What is read of ELF files and of the answers of their readers before a library or the program
// relies on it: whatever the bytes, reading ends well.
//
// First byte: 0 an answer, others an ELF file.
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/require.h"
#include "io/byte_source.h"
#include "symbolize/elf_identity.h"
#include "symbolize/elf_sections.h"
#include "symbolize/names_codec.h"

namespace stackpack::fuzz {

namespace {

void check_answer(std::span<const std::byte> data) {
  const Result<symbolize::FoundNames> found = symbolize::decode_names(data, {});
  if (!found) {
    return;
  }
  const auto again = symbolize::decode_names(symbolize::encode_names(*found), {});
  require(again.has_value() && *again == *found);
  const Names* const names = &found->names;
  for (const CodeLine& line : names->lines) {
    require(line.size != 0 && (line.inlined == kNoInline || line.inlined < names->inlined.size()));
  }
  for (std::size_t row = 0; row < names->inlined.size(); ++row) {
    const std::uint32_t parent = names->inlined[row].parent;
    require(parent == kNoInline || parent < row);
  }
}

void check_file(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  const Result<symbolize::ElfIdentity> elf = symbolize::read_elf_identity(*source);
  if (!elf) {
    return;
  }
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{0x1000}, ~std::uint64_t{0}}) {
    static_cast<void>(elf->address_of(offset));
    static_cast<void>(elf->offset_of(offset));
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::uint64_t damaged = 0;
  const std::vector<std::byte> plain =
      symbolize::without_zstd_sections(*source, *elf, kMostBytes, damaged);
  require(plain.size() <= kMostBytes + data.size());
}

}  // namespace

void symbol_elf(std::span<const std::byte> data) {
  if (data.empty()) {
    return;
  }
  if (data.front() == std::byte{0}) {
    check_answer(data.subspan(1));
  } else {
    check_file(data.subspan(1));
  }
}

}  // namespace stackpack::fuzz
