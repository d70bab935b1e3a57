#include "symbolize/elf_symbols.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gelf.h>

#include "core/sort_rows.h"
#include "symbolize/demangler.h"
#include "symbolize/library_memory.h"
#include "symbolize/symbol_request.h"
#include "symbolize/symbol_table.h"
#include "symbolize/xz_stream.h"

namespace stackpack::symbolize {

namespace {

// `memcpy@@GLIBC_2.14` without its version.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.find('@', 1);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

// Labels that assemblers write for themselves. `$x` and its like say where code or data begins.
bool is_assemblers_own(std::string_view name, unsigned machine) {
  return name.starts_with(".L") || name.starts_with("..@") || is_mapping_mark(machine, name);
}

// The part of a symbol's rank that its table has.
AliasRank rank_of(const GElf_Sym& symbol) {
  const auto binding = GELF_ST_BIND(symbol.st_info);
  return {symbol.st_size == 0, GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE, binding == STB_WEAK,
          binding != STB_GLOBAL && binding != STB_GNU_UNIQUE};
}

/// Orders what begins at one address; asks for readable names only where they decide.
class BestAlias {
 public:
  /// Whether `later`, which comes after `first`, counts instead.
  bool is_better(const ElfSymbol& later, const ElfSymbol& first) {
    if (later.rank != first.rank) {
      return later.rank < first.rank;
    }
    const auto order = later.name == first.name
                           ? std::weak_ordering::equivalent
                           : std::weak_ordering(name_rank(later.name) <=> name_rank(first.name));
    return std::is_lt(order) || (std::is_eq(order) && later.source != FunctionSource::kDynsym &&
                                 first.source == FunctionSource::kDynsym);
  }

 private:
  AliasNameRank name_rank(std::string_view linked) {
    const std::string_view readable = demangler_.demangle(linked);
    return AliasNameRank(readable.empty() ? linked : readable);
  }

  Demangler demangler_{SymbolLimits().name_bytes, Demangler::Form::kWithoutParameters};
};

}  // namespace

struct ElfSymbols::Unpacked {
  explicit Unpacked(std::string content)
      : bytes(std::move(content)), file(::elf_memory(bytes.data(), bytes.size())) {}
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked() { ::elf_end(file); }

  std::string bytes;
  Elf* file;
};

ElfSymbols::ElfSymbols() {
  ::elf_version(EV_CURRENT);
}
ElfSymbols::~ElfSymbols() = default;

class ElfSymbols::Table {
 public:
  Table(ElfSymbols& symbols, Elf* file, const GElf_Ehdr& top, FunctionSource source)
      : symbols_(symbols), machine_(top.e_machine), source_(source) {
    for (Elf_Scn* part = ::elf_nextscn(file, nullptr); part != nullptr;
         part = ::elf_nextscn(file, part)) {
      GElf_Shdr header{};
      sections_.resize(::elf_ndxscn(part) + 1);
      sections_.back() = ::gelf_getshdr(part, &header) == nullptr ? GElf_Shdr{} : header;
    }
  }

  void take(const GElf_Sym& symbol, std::string_view name) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const bool is_typed = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (is_typed ||
        (type == STT_NOTYPE && is_in_code(symbol) && !is_assemblers_own(name, machine_))) {
      add_function(symbol, name);
    } else if (type == STT_OBJECT && is_in_code(symbol)) {
      symbols_.data_in_code_.push_back(symbol.st_value);
    }
  }

 private:
  // The bytes from an address to the end of its section; 0 when it is not in there.
  [[nodiscard]] std::uint64_t room_after(std::size_t section, std::uint64_t address) const {
    if (section >= sections_.size() || address < sections_[section].sh_addr) {
      return 0;
    }
    const GElf_Shdr& header = sections_[section];
    const std::uint64_t before = address - header.sh_addr;
    return before >= header.sh_size ? 0
                                    : std::min(header.sh_size - before,
                                               std::numeric_limits<std::uint64_t>::max() - address);
  }

  [[nodiscard]] bool is_in_code(const GElf_Sym& symbol) const {
    return symbol.st_shndx < sections_.size() &&
           (sections_[symbol.st_shndx].sh_flags & SHF_EXECINSTR) != 0;
  }

  void add_function(const GElf_Sym& symbol, std::string_view name) {
    ElfSymbol function;
    // The lowest bit of a Thumb function's address says that it is one.
    function.start = machine_ == EM_ARM ? symbol.st_value & ~GElf_Addr{1} : symbol.st_value;
    function.size =
        std::min(symbol.st_size, std::numeric_limits<std::uint64_t>::max() - function.start);
    function.source = source_;
    function.rank = rank_of(symbol);
    function.name = without_version(name);
    function.room = function.size != 0 ? 0 : room_after(symbol.st_shndx, function.start);
    if (function.size != 0 || function.room != 0) {
      symbols_.functions_.push_back(function);
    }
  }

  ElfSymbols& symbols_;
  unsigned machine_;
  FunctionSource source_;
  std::vector<GElf_Shdr> sections_;  // by number
};

void ElfSymbols::add_table(Elf* file, std::size_t section, FunctionSource source) {
  Elf_Scn* const part = ::elf_getscn(file, section);
  GElf_Shdr header{};
  GElf_Ehdr top{};
  Elf_Data* const data = part == nullptr ? nullptr : ::elf_getdata(part, nullptr);
  if (data == nullptr || ::gelf_getshdr(part, &header) == nullptr ||
      ::gelf_getehdr(file, &top) == nullptr) {
    heed_lack_of_memory();
    ++damaged_tables_;
    return;
  }
  Table table(*this, file, top, source);
  const std::size_t entry = ::gelf_fsize(file, ELF_T_SYM, 1, EV_CURRENT);
  // What debug files have no bytes of is in another one.
  const bool has_rows = header.sh_type != SHT_NOBITS && entry != 0;
  const std::size_t count = has_rows ? data->d_size / entry : 0;
  bool damaged = false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Sym symbol{};
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
      damaged = true;
      break;
    }
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) {
      continue;
    }
    const char* const name = ::elf_strptr(file, header.sh_link, symbol.st_name);
    damaged = damaged || name == nullptr;
    if (name != nullptr && *name != '\0') {
      table.take(symbol, name);
    }
  }
  heed_lack_of_memory();
  damaged_tables_ += damaged ? 1U : 0U;
}

void ElfSymbols::add_packed(const char* bytes, std::size_t size) {
  std::string content = unpack_xz(std::as_bytes(std::span(bytes, size)));
  if (content.empty()) {
    ++damaged_tables_;
    return;
  }
  unpacked_.push_back(std::make_unique<Unpacked>(std::move(content)));
  Elf* const file = unpacked_.back()->file;
  std::size_t sections = 0;
  if (file == nullptr || ::elf_getshdrnum(file, &sections) != 0) {
    heed_lack_of_memory();
    ++damaged_tables_;
    return;
  }
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    if (part != nullptr && ::gelf_getshdr(part, &header) != nullptr &&
        header.sh_type == SHT_SYMTAB) {
      add_table(file, i, FunctionSource::kMiniDebug);
    }
  }
}

void ElfSymbols::add(Elf* file) {
  std::size_t sections = 0;
  std::size_t names = 0;
  if (file == nullptr) {
    return;
  }
  if (::elf_getshdrnum(file, &sections) != 0) {
    heed_lack_of_memory();
    ++damaged_tables_;
    return;
  }
  const bool named = ::elf_getshdrstrndx(file, &names) == 0;
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    if (part == nullptr || ::gelf_getshdr(part, &header) == nullptr) {
      continue;
    }
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
      add_table(file, i,
                header.sh_type == SHT_SYMTAB ? FunctionSource::kSymtab : FunctionSource::kDynsym);
      continue;
    }
    const char* const name = named ? ::elf_strptr(file, names, header.sh_name) : nullptr;
    if (name != nullptr && std::string_view(name) == ".gnu_debugdata" &&
        header.sh_type == SHT_PROGBITS) {
      const Elf_Data* const data = ::elf_rawdata(part, nullptr);
      if (data != nullptr && data->d_buf != nullptr) {
        add_packed(static_cast<const char*>(data->d_buf), data->d_size);
      } else {
        ++damaged_tables_;
      }
    }
  }
  heed_lack_of_memory();
}

std::optional<std::uint64_t> ElfSymbols::address_of(Elf* file, std::string_view name) {
  std::size_t sections = 0;
  if (file == nullptr || ::elf_getshdrnum(file, &sections) != 0) {
    return std::nullopt;
  }
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    if (part == nullptr || ::gelf_getshdr(part, &header) == nullptr ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) {
      continue;
    }
    Elf_Data* const data = ::elf_getdata(part, nullptr);
    GElf_Sym symbol{};
    for (int row = 0; data != nullptr && ::gelf_getsym(data, row, &symbol) != nullptr; ++row) {
      const char* const text = ::elf_strptr(file, header.sh_link, symbol.st_name);
      if (text != nullptr && name == text && symbol.st_shndx != SHN_UNDEF) {
        return symbol.st_value;
      }
    }
  }
  return std::nullopt;
}

void ElfSymbols::drop_inner_labels() {
  std::size_t kept = 0;
  std::size_t owners = 0;  // where those begin of which a label may be one
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const ElfSymbol symbol = functions_[i];
    const auto is_part_of = [&symbol](const ElfSymbol& owner) {
      return symbol.name.starts_with(owner.name) &&
             symbol.name.substr(owner.name.size()).starts_with('.');
    };
    const auto first = functions_.begin() + static_cast<std::ptrdiff_t>(owners);
    const auto end = functions_.begin() + static_cast<std::ptrdiff_t>(kept);
    if (symbol.rank.is_label && symbol.rank.is_not_global && std::any_of(first, end, is_part_of)) {
      continue;
    }
    owners = owners < kept && functions_[owners].start == symbol.start ? owners : kept;
    functions_[kept++] = symbol;
  }
  functions_.resize(kept);
}

void ElfSymbols::find_ends() {
  std::sort(data_in_code_.begin(), data_in_code_.end());
  auto data = data_in_code_.begin();
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    ElfSymbol& function = functions_[i];
    data = std::upper_bound(data, data_in_code_.end(), function.start);
    if (function.size != 0) {
      continue;
    }
    function.size = function.room;
    if (i + 1 < functions_.size()) {
      function.size = std::min(function.size, functions_[i + 1].start - function.start);
    }
    if (data != data_in_code_.end()) {
      function.size = std::min(function.size, *data - function.start);
    }
  }
}

void ElfSymbols::settle() {
  core::sort_rows(functions_,
                  [](const ElfSymbol& a, const ElfSymbol& b) { return a.start < b.start; });
  drop_inner_labels();
  BestAlias aliases;
  std::size_t kept = 0;
  for (const ElfSymbol& symbol : functions_) {
    ElfSymbol* const before = kept == 0 ? nullptr : &functions_[kept - 1];
    if (before == nullptr || before->start != symbol.start) {
      functions_[kept++] = symbol;
      continue;
    }
    const std::uint64_t size = std::max(before->size, symbol.size);
    if (aliases.is_better(symbol, *before)) {
      aliases_.push_back(std::exchange(*before, symbol));
    } else {
      aliases_.push_back(symbol);
    }
    before->size = size;
  }
  functions_.resize(kept);
  core::sort_rows(aliases_, [](const ElfSymbol& a, const ElfSymbol& b) {
    return std::tuple(a.start, a.name.size(), a.name) < std::tuple(b.start, b.name.size(), b.name);
  });
  find_ends();
}

std::span<const ElfSymbol> ElfSymbols::aliases_of(const ElfSymbol& function) const {
  const auto [first, last] =
      std::equal_range(aliases_.begin(), aliases_.end(), function,
                       [](const ElfSymbol& a, const ElfSymbol& b) { return a.start < b.start; });
  const std::span<const ElfSymbol> all(first, last);
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < std::min(all.size(), kMostAliases) &&
         (bytes += all[count].name.size()) <= kMostAliasBytes) {
    ++count;
  }
  return all.first(count);
}

const ElfSymbol* ElfSymbols::Sweep::find(std::uint64_t address) {
  while (next_ < symbols_.size() && symbols_[next_].start <= address) {
    open_.push_back(next_++);
  }
  // Later addresses are higher: what has ended here has ended for them as well.
  while (!open_.empty()) {
    const ElfSymbol& symbol = symbols_[open_.back()];
    if (address - symbol.start < symbol.size) {
      return &symbol;
    }
    open_.pop_back();
  }
  return nullptr;
}

const ElfSymbol* ElfSymbols::Sweep::begins_at(std::uint64_t address) const {
  return next_ < symbols_.size() && symbols_[next_].start == address ? &symbols_[next_] : nullptr;
}

}  // namespace stackpack::symbolize
