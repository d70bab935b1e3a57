#include "symbolize/symbol_table.h"

#include <algorithm>

#include <elf.h>

#include "bytes/byte_cursor.h"
#include "core/sort_rows.h"
#include "elf/elf_headers.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint64_t kMostSymbolBytes = std::uint64_t{1} << 30;

SymbolKind kind_of(unsigned type) {
  switch (type) {
    case STT_NOTYPE:
      return SymbolKind::kNone;
    case STT_OBJECT:
    case STT_COMMON:
      return SymbolKind::kVariable;
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return SymbolKind::kFunction;
    case STT_SECTION:
      return SymbolKind::kSection;
    case STT_FILE:
      return SymbolKind::kFile;
    default:
      return SymbolKind::kOther;
  }
}

TableSymbol table_symbol(bytes::ByteCursor& in, bool is_64_bit) {
  TableSymbol symbol;
  std::uint8_t info = 0;
  symbol.name = in.read<std::uint32_t>();
  if (is_64_bit) {
    info = in.read<std::uint8_t>();
    in.skip(1);
    symbol.section = in.read<std::uint16_t>();
    symbol.address = in.read<std::uint64_t>();
    symbol.bytes = in.read<std::uint64_t>();
  } else {
    symbol.address = in.read<std::uint32_t>();
    symbol.bytes = in.read<std::uint32_t>();
    info = in.read<std::uint8_t>();
    in.skip(1);
    symbol.section = in.read<std::uint16_t>();
  }
  symbol.kind = kind_of(info & 0xFU);
  symbol.is_local = info >> 4U == STB_LOCAL;
  return symbol;
}

// The whole table where there is one, else that of the dynamic linker; null: there is none.
const elf::Section* section_with_symbols(const std::vector<elf::Section>& sections) {
  for (const std::uint32_t type : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
    const auto found =
        std::find_if(sections.begin(), sections.end(),
                     [type](const elf::Section& section) { return section.type == type; });
    if (found != sections.end()) {
      return &*found;
    }
  }
  return nullptr;
}

}  // namespace

bool is_mapping_mark(unsigned machine, std::string_view name) {
  const bool has_marks = machine == EM_AARCH64 || machine == EM_ARM || machine == EM_RISCV;
  return has_marks && name.starts_with('$');
}

void SymbolTable::note_code(const std::vector<elf::Section>& sections) {
  for (std::size_t i = 0; i < sections.size() && i < SHN_LORESERVE; ++i) {
    const elf::Section& section = sections[i];
    const bool code = section.type != SHT_NOBITS && (section.flags & SHF_EXECINSTR) != 0;
    is_code_.push_back(code);
    if (code) {
      // A damaged size is not to go round the end of all addresses.
      code_.push_back({section.address, std::min(section.size, ~section.address),
                       static_cast<std::uint16_t>(i)});
    }
  }
  core::sort_rows(code_,
                  [](const CodeSection& a, const CodeSection& b) { return a.address < b.address; });
}

Result<SymbolTable> SymbolTable::read(io::ByteSource& file) {
  const Result<elf::Headers> headers = elf::read_headers(file);
  if (!headers) {
    return headers.error();
  }
  if (headers->type != ET_EXEC && headers->type != ET_DYN) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "elf: not a linked file"};
  }
  const std::vector<elf::Section>& sections = headers->sections;
  const elf::Section* const chosen = section_with_symbols(sections);
  if (chosen == nullptr || chosen->link >= sections.size()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "elf: no table of symbols"};
  }
  SymbolTable table;
  table.machine_ = headers->machine;
  table.note_code(sections);
  const elf::Section& names = sections[chosen->link];
  table.names_ = elf::read_part(file, names.offset, names.size, kMostSymbolBytes);
  const std::vector<std::byte> rows =
      elf::read_part(file, chosen->offset, chosen->size, kMostSymbolBytes);
  const std::size_t row_bytes = headers->is_64_bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  bytes::ByteCursor in(rows, chosen->offset, headers->order);
  while (in.remaining() >= row_bytes) {
    const TableSymbol symbol = table_symbol(in, headers->is_64_bit);
    if (symbol.section != SHN_UNDEF && symbol.section < sections.size()) {
      table.symbols_.push_back(symbol);
    }
  }
  return table;
}

std::string_view SymbolTable::name_of(const TableSymbol& symbol) const {
  if (symbol.name >= names_.size()) {
    return {};
  }
  const std::span<const std::byte> names = names_;
  bytes::ByteCursor in(names.subspan(symbol.name), symbol.name);
  return in.read_c_string();
}

bool SymbolTable::is_in_code(const TableSymbol& symbol) const {
  return symbol.section < is_code_.size() && is_code_[symbol.section];
}

}  // namespace stackpack::symbolize
