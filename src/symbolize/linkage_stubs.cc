#include "symbolize/linkage_stubs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gelf.h>

#include "bytes/byte_cursor.h"
#include "core/sort_rows.h"
#include "symbolize/library_memory.h"

namespace stackpack::symbolize {

namespace {

/// A relocation of a slot that a stub may jump through.
struct SlotTarget {
  std::uint64_t slot = 0;
  std::size_t table = 0;  ///< section of its symbols
  std::uint64_t symbol = 0;
  std::uint64_t resolver = 0;  ///< without a symbol: the function that says which one it is
};

/// A stub and the slot that it jumps through.
struct Stub {
  std::uint64_t start = 0;
  std::uint64_t size = 0;  ///< 0: up to the next one
  std::uint64_t slot = 0;
};

struct CodeBytes {
  std::uint64_t address = 0;
  std::size_t entry_bytes = 0;
  std::span<const std::byte> bytes;
};

// `jmp *slot(%rip)`, one in each entry, whatever is before and after it.
std::vector<Stub> stubs_of_x86_64(const CodeBytes& code) {
  constexpr std::size_t kJumpBytes = 6;
  constexpr std::array<std::byte, 2> kJump{std::byte{0xFF}, std::byte{0x25}};
  const std::size_t entry = std::max(code.entry_bytes, std::size_t{8});
  std::vector<Stub> stubs;
  for (std::size_t at = 0; at + kJumpBytes <= code.bytes.size(); at += entry) {
    const auto bytes = code.bytes.subspan(at, std::min(entry, code.bytes.size() - at));
    const auto jump = std::search(bytes.begin(), bytes.end(), kJump.begin(), kJump.end());
    const auto before = static_cast<std::size_t>(jump - bytes.begin());
    if (bytes.size() - before < kJumpBytes) {
      continue;
    }
    bytes::ByteCursor in(bytes.subspan(before + kJump.size()), at);
    const auto distance = static_cast<std::uint64_t>(
        std::int64_t{static_cast<std::int32_t>(in.read<std::uint32_t>())});
    const std::uint64_t start = code.address + at;
    stubs.push_back({start, bytes.size(), start + before + kJumpBytes + distance});
  }
  return stubs;
}

// `adrp x16, page`, `ldr x17, [x16, offset]`, after `bti c` where there is one.
std::vector<Stub> stubs_of_aarch64(const CodeBytes& code) {
  constexpr std::uint32_t kLandingPad = 0xD503245F;
  std::vector<Stub> stubs;
  bytes::ByteCursor in(code.bytes, 0);
  std::uint32_t before = 0;
  std::uint32_t page = 0;
  for (std::uint64_t at = 0; in.remaining() >= 4; at += 4) {
    const auto word = in.read<std::uint32_t>();
    if ((page & 0x9F00'001FU) == 0x9000'0010U && (word & 0xFFC0'03FFU) == 0xF940'0211U) {
      const std::uint64_t start = code.address + at - 4;
      const std::uint64_t pages = (page >> 29U & 3U) | (page >> 3U & 0x1F'FFFCU);
      const std::uint64_t distance = ((pages ^ 0x10'0000U) - 0x10'0000U) << 12U;  // it has a sign
      const std::uint64_t slot =
          (start & ~std::uint64_t{0xFFF}) + distance + std::uint64_t{word >> 10U & 0xFFFU} * 8;
      stubs.push_back({before == kLandingPad ? start - 4 : start, 0, slot});
    }
    before = page;
    page = word;
  }
  return stubs;
}

bool is_slot(unsigned machine, std::uint64_t type) {
  if (machine == EM_X86_64) {
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE;
  }
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_IRELATIVE;
}

class StubNames {
 public:
  StubNames(Elf* image, std::deque<std::string>& names, ElfSymbols& symbols)
      : image_(image), names_(names), symbols_(symbols) {}

  void add() {
    std::size_t names = 0;
    if (::gelf_getehdr(image_, &top_) == nullptr ||
        (top_.e_machine != EM_X86_64 && top_.e_machine != EM_AARCH64) ||
        ::elf_getshdrstrndx(image_, &names) != 0) {
      return;
    }
    each_section([this](Elf_Scn* part, const GElf_Shdr& header) {
      if (header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) != 0) {
        note_relocations(part, header);
      }
    });
    core::sort_rows(targets_,
                    [](const SlotTarget& a, const SlotTarget& b) { return a.slot < b.slot; });
    each_section([this, names](Elf_Scn* part, const GElf_Shdr& header) {
      const char* const name = ::elf_strptr(image_, names, header.sh_name);
      if (name != nullptr && header.sh_type == SHT_PROGBITS &&
          (header.sh_flags & SHF_EXECINSTR) != 0) {
        add_section(name, part, header);
      }
    });
    for (const ElfSymbol& stub : stubs_) {
      symbols_.add(stub);
    }
    symbols_.settle();
  }

 private:
  template <typename Visit>
  void each_section(const Visit& visit) {
    for (Elf_Scn* part = ::elf_nextscn(image_, nullptr); part != nullptr;
         part = ::elf_nextscn(image_, part)) {
      GElf_Shdr header{};
      if (::gelf_getshdr(part, &header) != nullptr) {
        visit(part, header);
      }
    }
  }

  void note_relocations(Elf_Scn* part, const GElf_Shdr& header) {
    Elf_Data* const data = ::elf_getdata(part, nullptr);
    heed_lack_of_memory();
    GElf_Rela row{};
    for (int i = 0; data != nullptr && ::gelf_getrela(data, i, &row) != nullptr; ++i) {
      if (is_slot(top_.e_machine, GELF_R_TYPE(row.r_info))) {
        targets_.push_back({row.r_offset, header.sh_link, GELF_R_SYM(row.r_info),
                            static_cast<std::uint64_t>(row.r_addend)});
      }
    }
  }

  void add_section(std::string_view name, Elf_Scn* part, const GElf_Shdr& header) {
    if (!name.starts_with(".plt") && name != ".iplt") {
      return;
    }
    const Elf_Data* const data = ::elf_rawdata(part, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size > ~header.sh_addr) {
      heed_lack_of_memory();
      return;
    }
    // Not all linkers say how large an entry is; all align them.
    const std::uint64_t entry = header.sh_entsize != 0 ? header.sh_entsize : header.sh_addralign;
    const CodeBytes code{
        header.sh_addr, static_cast<std::size_t>(entry),
        std::as_bytes(std::span(static_cast<const char*>(data->d_buf), data->d_size))};
    ElfSymbol symbol;
    symbol.source = FunctionSource::kDynsym;
    if (name == ".plt" && data->d_size != 0) {
      symbol.start = code.address;
      symbol.size = code.bytes.size();
      symbol.name = ".plt";
      stubs_.push_back(symbol);
    }
    for (const Stub& stub :
         top_.e_machine == EM_X86_64 ? stubs_of_x86_64(code) : stubs_of_aarch64(code)) {
      symbol.name = name_of_slot(stub.slot);
      symbol.start = stub.start;
      symbol.size = stub.size;
      symbol.room = code.address + code.bytes.size() - stub.start;
      if (!symbol.name.empty()) {
        stubs_.push_back(symbol);
      }
    }
  }

  // Empty: no function is known to be called through that slot.
  std::string_view name_of_slot(std::uint64_t slot) {
    const auto target = std::lower_bound(
        targets_.begin(), targets_.end(), slot,
        [](const SlotTarget& row, std::uint64_t wanted) { return row.slot < wanted; });
    if (target == targets_.end() || target->slot != slot) {
      return {};
    }
    std::string name = target->symbol != 0 ? name_of_symbol(*target) : name_of_resolver(*target);
    return name.empty() ? std::string_view() : names_.emplace_back(std::move(name) + "@plt");
  }

  std::string name_of_symbol(const SlotTarget& target) {
    Elf_Scn* const part = ::elf_getscn(image_, target.table);
    GElf_Shdr header{};
    Elf_Data* const data = part == nullptr ? nullptr : ::elf_getdata(part, nullptr);
    GElf_Sym symbol{};
    constexpr std::uint64_t kMostSymbols = std::uint64_t{1} << 30;
    if (data == nullptr || ::gelf_getshdr(part, &header) == nullptr ||
        target.symbol > kMostSymbols ||
        ::gelf_getsym(data, static_cast<int>(target.symbol), &symbol) == nullptr) {
      heed_lack_of_memory();
      return {};
    }
    const char* const name = ::elf_strptr(image_, header.sh_link, symbol.st_name);
    return name == nullptr ? std::string() : std::string(name);
  }

  // As disassemblers write it where the function has no name.
  [[nodiscard]] std::string name_of_resolver(const SlotTarget& target) const {
    const std::vector<ElfSymbol>& functions = symbols_.functions();
    const auto function = std::lower_bound(
        functions.begin(), functions.end(), target.resolver,
        [](const ElfSymbol& row, std::uint64_t wanted) { return row.start < wanted; });
    if (function != functions.end() && function->start == target.resolver) {
      return std::string(function->name);
    }
    std::array<char, 16> digits{};
    const auto written =
        std::to_chars(digits.data(), digits.data() + digits.size(), target.resolver, 16);
    return "*ABS*+0x" + std::string(digits.data(), written.ptr);
  }

  Elf* image_;
  std::deque<std::string>& names_;
  ElfSymbols& symbols_;
  GElf_Ehdr top_{};
  std::vector<SlotTarget> targets_;  // by slot
  std::vector<ElfSymbol> stubs_;
};

}  // namespace

void add_linkage_stubs(Elf* image, std::deque<std::string>& names, ElfSymbols& symbols) {
  if (image != nullptr) {
    StubNames(image, names, symbols).add();
  }
}

}  // namespace stackpack::symbolize
