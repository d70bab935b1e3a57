#include "symbolize/elf_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/byte_source.h"
#include "io/system_file.h"
#include "symbolize/dwarf_sweep.h"
#include "symbolize/elf_rows.h"
#include "symbolize/elf_sections.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/library_memory.h"
#include "symbolize/linkage_stubs.h"
#include "symbolize/module_placement.h"
#include "symbolize/packed_module.h"
#include "symbolize/split_files.h"

namespace stackpack::symbolize {

namespace {

constexpr std::size_t kMostPlainBytes = std::size_t{4} << 30;

// All of a file; empty when it cannot be read.
std::vector<std::byte> content_of(io::ByteSource& file) {
  const std::uint64_t size = file.size().value_or(0);
  std::vector<std::byte> content(size > kMostPlainBytes ? std::size_t{0}
                                                        : static_cast<std::size_t>(size));
  return io::read_exactly_at(file, 0, content, "elf: file is cut") ? std::move(content)
                                                                   : std::vector<std::byte>();
}

// Sections of debug information that nothing here asks libdw for.
bool is_unused(std::string_view name, bool lines) {
  return name == ".debug_loclists" || name == ".debug_loc" || name == ".debug_macro" ||
         name == ".debug_frame" || name.starts_with(".debug_pub") ||
         (!lines && name == ".debug_line");
}

// Unpacks what libdw would unpack: when that was refused memory, its next calls hide it. Sections
// that cannot be unpacked are left to it. Those that are not used are hidden from it.
void unpack_sections(Elf* file, bool lines) {
  std::size_t names = 0;
  const bool has_names = ::elf_getshdrstrndx(file, &names) == 0;
  for (Elf_Scn* part = ::elf_nextscn(file, nullptr); part != nullptr;
       part = ::elf_nextscn(file, part)) {
    GElf_Shdr header{};
    if (::gelf_getshdr(part, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) == 0) {
      continue;
    }
    const char* const name = has_names ? ::elf_strptr(file, names, header.sh_name) : nullptr;
    if (name != nullptr && is_unused(name, lines)) {
      header.sh_type = SHT_NOBITS;
      ::gelf_update_shdr(part, &header);
    } else if (::elf_compress(part, 0, 0) < 0) {
      heed_lack_of_memory();
    }
  }
}

/// A file that libelf reads.
class ElfFile {
 public:
  /// `descriptor`: -1: there is none. `content`: empty: that of the file. A kernel module is given
  /// addresses when it `may_be_module`. `lines`: whether they are read.
  explicit ElfFile(int descriptor, bool lines, bool may_be_module = false,
                   std::vector<std::byte> content = {})
      : plain_(std::move(content)) {
    if (descriptor < 0) {
      return;
    }
    const auto source =
        plain_.empty() ? io::source_of_descriptor(descriptor) : io::source_of_memory(plain_);
    const Result<ElfIdentity> identity = read_elf_identity(*source);
    const bool is_module = may_be_module && identity && identity->type == ET_REL;
    has_dwarf_ = identity && identity->has_dwarf;
    if (identity && identity->has_zstd) {
      auto unpacked = without_zstd_sections(*source, *identity, kMostPlainBytes, damaged_parts_);
      plain_ = unpacked.empty() ? std::move(plain_) : std::move(unpacked);
    }
    if (is_module && plain_.empty()) {
      plain_ = content_of(*source);
    }
    char* const bytes = static_cast<char*>(static_cast<void*>(plain_.data()));
    file_ = plain_.empty() ? ::elf_begin(descriptor, ELF_C_READ_MMAP, nullptr)
                           : ::elf_memory(bytes, plain_.size());
    if (file_ == nullptr) {
      heed_lack_of_memory();
    }
    forget_lack_of_memory();  // a file that could not be mapped is read
    damaged_parts_ += get() == nullptr ? 1U : 0U;
    if (is_module && get() != nullptr && !plain_.empty()) {
      damaged_parts_ += place_module(file_);
    } else if (get() != nullptr) {
      unpack_sections(file_, lines);
    }
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile() { ::elf_end(file_); }

  /// Null when it is not there or no ELF file.
  [[nodiscard]] Elf* get() const {
    return file_ != nullptr && ::elf_kind(file_) == ELF_K_ELF ? file_ : nullptr;
  }

  /// Gives the pages of the file back, which are read again where they are needed again. What is
  /// not mapped but allocated never begins with a page when it is so large.
  void release_pages() const {
    constexpr std::size_t kLarge = std::size_t{64} << 20;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::size_t size = 0;
    char* const content = plain_.empty() ? ::elf_rawfile(file_, &size) : nullptr;
    void* first_page = content;
    std::size_t room = size;
    if (content != nullptr && size >= kLarge && std::align(page, 1, first_page, room) == content) {
      ::madvise(content, size, MADV_DONTNEED);
    }
  }

  [[nodiscard]] bool has_dwarf() const { return has_dwarf_; }

  /// Sections that cannot be unpacked; the file, when it is there and cannot be read.
  [[nodiscard]] std::uint64_t damaged_parts() const { return damaged_parts_; }

 private:
  std::vector<std::byte> plain_;  // where sections had to be decompressed
  Elf* file_ = nullptr;
  bool has_dwarf_ = false;
  std::uint64_t damaged_parts_ = 0;
};

std::vector<std::uint64_t> addresses_of(const SymbolRequest& request, const ElfIdentity& layout) {
  std::vector<std::uint64_t> addresses;
  addresses.reserve(request.addresses.size());
  for (const std::uint64_t offset : request.addresses) {
    if (const std::optional<std::uint64_t> address = layout.address_of(offset)) {
      addresses.push_back(*address);
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

/// Debug information that libdw reads.
class DwarfFile {
 public:
  explicit DwarfFile(const ElfFile& file)
      : file_(file.get() == nullptr ? nullptr
                                    : ::dwarf_begin_elf(file.get(), DWARF_C_READ, nullptr)),
        is_damaged_(file_ == nullptr && file.has_dwarf()) {
    heed_lack_of_memory();
  }
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;
  ~DwarfFile() { ::dwarf_end(file_); }

  /// Null when there is none.
  [[nodiscard]] Dwarf* get() const { return file_; }

  /// There is some, and it cannot be read.
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  Dwarf* file_;
  bool is_damaged_;
};

bool is_regular_file(const std::string& path) {
  return io::open_rooted_file("", path).has_value();
}

// libdw opens what debug information names: first in the folder of the file, then where it was
// compiled. Only what is a regular file, and where it may be.
bool may_open_split(int descriptor, SplitFiles where, std::string_view folder,
                    std::string_view name) {
  if (where == SplitFiles::kNone || name.empty()) {
    return false;
  }
  const bool absolute = name.starts_with('/');
  if (!absolute && name.find("..") == std::string_view::npos) {
    const std::string beside = folder_of_file(descriptor) + "/" + std::string(name);
    const Result<io::RootedFile> file = io::open_rooted_file("", beside);
    if (file || file.error().code != ErrorCode::kNotFound) {
      return file.has_value();
    }
  }
  return where == SplitFiles::kAnywhere &&
         is_regular_file(absolute ? std::string(name)
                                  : std::string(folder) + "/" + std::string(name));
}

}  // namespace

std::optional<std::uint64_t> elf_symbol_address(const ElfFiles& files, std::string_view symbol) {
  ::elf_version(EV_CURRENT);
  for (const int descriptor : {files.image, files.debug}) {
    const ElfFile file(descriptor, false);
    if (file.get() == nullptr) {
      continue;
    }
    if (const auto address = ElfSymbols::address_of(file.get(), symbol)) {
      return address;
    }
  }
  return std::nullopt;
}

bool reads_elf_names() {
  return true;
}

namespace {

// Names from files whose layout is known; `content`: of the image, empty: what is in the file.
Status read_names(const ElfFiles& files, std::vector<std::byte> content,
                  const SymbolRequest& request, NameCollector& names) {
  const bool lines = request.inlines && request.lines;
  const ElfFile image(files.image, lines, true, std::move(content));
  const ElfFile debug(files.debug, lines, true);
  const ElfFile shared(files.alternate, lines);
  const ElfFile package(files.package, lines);
  if (image.get() == nullptr && debug.get() == nullptr) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "elf: cannot be read"};
  }
  for (const ElfFile* const file : {&image, &debug, &shared, &package}) {
    names.losses().damaged_parts += file->damaged_parts();
  }
  ElfSymbols symbols;
  symbols.add(image.get());
  symbols.add(debug.get());
  symbols.settle();
  std::deque<std::string> stub_names;
  add_linkage_stubs(image.get(), stub_names, symbols);
  names.losses().damaged_parts += symbols.damaged_tables();
  names.losses().functions_there = symbols.functions().size();
  const std::vector<std::uint64_t> addresses = addresses_of(request, files.layout);

  const DwarfFile image_dwarf(image);
  const DwarfFile debug_dwarf(debug);
  const DwarfFile shared_dwarf(shared);
  DwarfSweep dwarf(addresses, request, names);
  for (const DwarfFile* const file : {&image_dwarf, &debug_dwarf}) {
    names.losses().damaged_parts += file->is_damaged() ? 1U : 0U;
    if (file->get() == nullptr) {
      continue;
    }
    if (shared_dwarf.get() != nullptr) {
      ::dwarf_setalt(file->get(), shared_dwarf.get());
    }
    ++names.losses().functions_there;
    const bool is_image = file == &image_dwarf;
    const ElfFile& own = is_image ? image : debug;
    dwarf.add(file->get(), {[&](std::string_view folder, std::string_view name) {
                              return may_open_split(is_image ? files.image : files.debug,
                                                    files.split, folder, name);
                            },
                            [&own] { own.release_pages(); }, own.get(), package.get()});
  }
  add_elf_rows({files.layout, addresses, symbols, dwarf.places()}, request, names);
  return {};
}

}  // namespace

Status read_elf_names(const ElfFiles& files, const SymbolRequest& request, NameCollector& names) {
  ::elf_version(EV_CURRENT);
  forget_lack_of_memory();
  if (!files.packed) {
    return read_names(files, {}, request, names);
  }
  Result<std::vector<std::byte>> content = unpack_file(files.image);
  if (!content) {
    return content.error();
  }
  const auto source = io::source_of_memory(*content);
  Result<ElfIdentity> layout = read_elf_identity(*source);
  if (!layout) {
    return layout.error();
  }
  if (!files.build_id.empty() && layout->build_id != files.build_id) {
    names.losses().other_builds = 1;
    return {};
  }
  ElfFiles plain = files;
  plain.layout = std::move(*layout);
  return read_names(plain, std::move(*content), request, names);
}

}  // namespace stackpack::symbolize
