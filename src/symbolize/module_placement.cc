#include "symbolize/module_placement.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <gelf.h>

#include "symbolize/elf_identity.h"
#include "symbolize/library_memory.h"

namespace stackpack::symbolize {

namespace {

/// Relocations that put an address, or an address and what is there, into some bytes.
struct PlainRelocation {
  GElf_Half machine = 0;
  std::uint32_t type = 0;
  unsigned bytes = 0;
};
constexpr std::array kPlainRelocations{PlainRelocation{EM_X86_64, R_X86_64_64, 8},
                                       PlainRelocation{EM_X86_64, R_X86_64_32, 4},
                                       PlainRelocation{EM_X86_64, R_X86_64_32S, 4},
                                       PlainRelocation{EM_X86_64, R_X86_64_DTPOFF64, 8},
                                       PlainRelocation{EM_X86_64, R_X86_64_DTPOFF32, 4},
                                       PlainRelocation{EM_AARCH64, R_AARCH64_ABS64, 8},
                                       PlainRelocation{EM_AARCH64, R_AARCH64_ABS32, 4},
                                       PlainRelocation{EM_386, R_386_32, 4},
                                       PlainRelocation{EM_ARM, R_ARM_ABS32, 4},
                                       PlainRelocation{EM_PPC64, R_PPC64_ADDR64, 8},
                                       PlainRelocation{EM_PPC64, R_PPC64_ADDR32, 4},
                                       PlainRelocation{EM_S390, R_390_64, 8},
                                       PlainRelocation{EM_S390, R_390_32, 4}};

// Bytes that a relocation changes; 0: it is not known.
unsigned bytes_of(GElf_Half machine, std::uint64_t type) {
  const auto* const known = std::find_if(
      kPlainRelocations.begin(), kPlainRelocations.end(),
      [&](const PlainRelocation& one) { return one.machine == machine && one.type == type; });
  return known == kPlainRelocations.end() ? 0 : known->bytes;
}

/// One module.
class Placement {
 public:
  explicit Placement(Elf* file) : file_(file) {}

  std::uint64_t run() {
    if (::gelf_getehdr(file_, &top_) == nullptr || ::elf_getshdrnum(file_, &count_) != 0 ||
        ::elf_getshdrstrndx(file_, &names_) != 0) {
      return 1;
    }
    place_sections();
    for (std::size_t i = 1; i < count_; ++i) {
      GElf_Shdr header{};
      if (read(i, header) && header.sh_type == SHT_SYMTAB) {
        place_symbols(::elf_getscn(file_, i));
      }
    }
    for (std::size_t i = 1; i < count_; ++i) {
      GElf_Shdr header{};
      if (read(i, header) && (header.sh_type == SHT_RELA || header.sh_type == SHT_REL)) {
        relocate(::elf_getscn(file_, i), header);
      }
    }
    heed_lack_of_memory();
    return damaged_;
  }

 private:
  bool read(std::size_t section, GElf_Shdr& header) {
    Elf_Scn* const part = ::elf_getscn(file_, section);
    return part != nullptr && ::gelf_getshdr(part, &header) != nullptr;
  }

  [[nodiscard]] std::string_view name_of(const GElf_Shdr& header) const {
    const char* const name = ::elf_strptr(file_, names_, header.sh_name);
    return name == nullptr ? std::string_view() : std::string_view(name);
  }

  // Debug information is unpacked: relocations are of the bytes that were packed.
  void place_sections() {
    addresses_.resize(count_);
    for (std::size_t i = 1; i < count_; ++i) {
      GElf_Shdr header{};
      if (!read(i, header)) {
        continue;
      }
      Elf_Scn* const part = ::elf_getscn(file_, i);
      if ((header.sh_flags & SHF_COMPRESSED) != 0) {
        damaged_ += ::elf_compress(part, 0, 0) < 0 ? 1U : 0U;
        continue;
      }
      if (const auto address = layout_.place(name_of(header), header.sh_flags, header.sh_size,
                                             header.sh_addralign)) {
        addresses_[i] = *address;
        header.sh_addr = *address;
        ::gelf_update_shdr(part, &header);
      }
    }
  }

  void place_symbols(Elf_Scn* part) {
    Elf_Data* const data = ::elf_getdata(part, nullptr);
    const std::size_t entry = ::gelf_fsize(file_, ELF_T_SYM, 1, EV_CURRENT);
    if (data == nullptr || entry == 0) {
      ++damaged_;
      return;
    }
    symbols_.resize(data->d_size / entry);
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      GElf_Sym symbol{};
      if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
        continue;
      }
      if (symbol.st_shndx < addresses_.size()) {
        symbol.st_value += addresses_[symbol.st_shndx];
        ::gelf_update_sym(data, static_cast<int>(i), &symbol);
      }
      symbols_[i] = symbol.st_value;
    }
  }

  // Of debug information alone: nothing looks at the code.
  void relocate(Elf_Scn* relocations, const GElf_Shdr& header) {
    GElf_Shdr target{};
    if (!read(header.sh_info, target) || !name_of(target).starts_with(".debug_") ||
        target.sh_type == SHT_NOBITS) {
      return;
    }
    Elf_Scn* const part = ::elf_getscn(file_, header.sh_info);
    Elf_Data* const data = ::elf_getdata(part, nullptr);
    Elf_Data* const rows = ::elf_getdata(relocations, nullptr);
    const bool has_addend = header.sh_type == SHT_RELA;
    const std::size_t entry =
        ::gelf_fsize(file_, has_addend ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT);
    if (data == nullptr || data->d_buf == nullptr || rows == nullptr || entry == 0) {
      ++damaged_;
      return;
    }
    const std::span content(static_cast<unsigned char*>(data->d_buf), data->d_size);
    for (std::size_t i = 0; i < rows->d_size / entry; ++i) {
      GElf_Rela row{};
      GElf_Rel plain{};
      if (has_addend) {
        ::gelf_getrela(rows, static_cast<int>(i), &row);
      } else if (::gelf_getrel(rows, static_cast<int>(i), &plain) != nullptr) {
        row.r_offset = plain.r_offset;
        row.r_info = plain.r_info;
      }
      if (!apply(row, has_addend, content)) {
        take_away(part, target);
        return;
      }
    }
  }

  // False: it is not known, or outside.
  bool apply(const GElf_Rela& row, bool has_addend, std::span<unsigned char> content) const {
    if (GELF_R_TYPE(row.r_info) == 0) {
      return true;  // nothing, on all machines
    }
    const unsigned bytes = bytes_of(top_.e_machine, GELF_R_TYPE(row.r_info));
    const std::uint64_t symbol = GELF_R_SYM(row.r_info);
    if (bytes == 0 || symbol >= symbols_.size() || row.r_offset > content.size() ||
        bytes > content.size() - row.r_offset) {
      return false;
    }
    const bool little = top_.e_ident[EI_DATA] == ELFDATA2LSB;
    const auto place = [&](unsigned byte) -> unsigned char& {
      return content[static_cast<std::size_t>(row.r_offset) + (little ? byte : bytes - 1 - byte)];
    };
    std::uint64_t value = symbols_[symbol] + static_cast<std::uint64_t>(row.r_addend);
    for (unsigned i = 0; i < bytes && !has_addend; ++i) {
      value += std::uint64_t{place(i)} << (8 * i);
    }
    for (unsigned i = 0; i < bytes; ++i) {
      place(i) = static_cast<unsigned char>(value >> (8 * i));
    }
    return true;
  }

  // Half of the addresses would be worse than none.
  void take_away(Elf_Scn* part, GElf_Shdr& header) {
    ++damaged_;
    header.sh_type = SHT_NOBITS;
    ::gelf_update_shdr(part, &header);
  }

  Elf* file_;
  GElf_Ehdr top_{};
  std::size_t count_ = 0;
  std::size_t names_ = 0;
  ModuleLayout layout_;
  std::vector<std::uint64_t> addresses_;  // of sections
  std::vector<std::uint64_t> symbols_;    // their values
  std::uint64_t damaged_ = 0;
};

}  // namespace

std::uint64_t place_module(Elf* file) {
  return Placement(file).run();
}

}  // namespace stackpack::symbolize
