#include "symbolize/elf_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>
#include <libelf.h>
#include <unistd.h>

#include "io/byte_source.h"
#include "io/rooted_file.h"
#include "symbolize/dwarf_sweep.h"
#include "symbolize/elf_sections.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/linked_names.h"

namespace stackpack::symbolize {

namespace {

/// A file that libelf reads.
class ElfFile {
 public:
  explicit ElfFile(int descriptor) {
    if (descriptor < 0) {
      return;
    }
    constexpr std::size_t kMostPlainBytes = std::size_t{4} << 30;
    const auto source = io::source_of_descriptor(descriptor);
    const Result<ElfIdentity> identity = read_elf_identity(*source);
    if (identity && identity->has_zstd) {
      plain_ = without_zstd_sections(*source, *identity, kMostPlainBytes);
    }
    char* const bytes = static_cast<char*>(static_cast<void*>(plain_.data()));
    file_ = plain_.empty() ? ::elf_begin(descriptor, ELF_C_READ_MMAP, nullptr)
                           : ::elf_memory(bytes, plain_.size());
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile() { ::elf_end(file_); }

  /// Null when it is not there or no ELF file.
  [[nodiscard]] Elf* get() const {
    return file_ != nullptr && ::elf_kind(file_) == ELF_K_ELF ? file_ : nullptr;
  }

 private:
  std::vector<std::byte> plain_;  // where sections had to be decompressed
  Elf* file_ = nullptr;
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
  explicit DwarfFile(Elf* file)
      : file_(file == nullptr ? nullptr : ::dwarf_begin_elf(file, DWARF_C_READ, nullptr)) {}
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;
  ~DwarfFile() { ::dwarf_end(file_); }

  /// Null when there is none.
  [[nodiscard]] Dwarf* get() const { return file_; }

 private:
  Dwarf* file_;
};

/// Makes rows of what symbols and debug information say of addresses, which come ascending.
class RowMaker {
 public:
  RowMaker(const ElfIdentity& layout, const SymbolRequest& request, NameCollector& names)
      : layout_(layout), names_(names), linked_(request.limits, names) {}

  /// The function that has an address, or begins after it.
  void add_symbol(const ElfSymbol& symbol) {
    if (&symbol == last_symbol_) {
      return;
    }
    last_symbol_ = &symbol;
    add_function(symbol.start, symbol.size, symbol.source, linked_.add(symbol.name));
  }

  void add_dwarf_function(const DwarfPlace& place) {
    if (place.function_begin != last_begin_) {
      last_begin_ = place.function_begin;
      add_function(place.function_begin, place.function_end - place.function_begin,
                   FunctionSource::kDwarf, place.function);
    }
  }

  /// A line that is that of the bytes [begin, end), `address` among them.
  void add_line(std::uint64_t address, std::uint64_t begin, std::uint64_t end,
                const DwarfPlace& place) {
    const std::optional<std::uint64_t> offset = layout_.offset_of(address);
    const std::uint64_t before = address - begin;
    if (!offset || *offset < before) {
      return;
    }
    CodeLine line;
    line.owner = FunctionOwner::kImage;
    line.start = *offset - before;
    line.size = end - begin;
    line.inlined = place.inlined;
    line.file = place.file;
    line.line = place.line;
    names_.add_line(line);
  }

 private:
  void add_function(std::uint64_t address, std::uint64_t size, FunctionSource source,
                    const LinkedName& name) {
    const std::optional<std::uint64_t> offset = layout_.offset_of(address);
    if (!offset || name.name == kNoText) {
      return;
    }
    Function function;
    function.owner = FunctionOwner::kImage;
    function.start = *offset;
    function.size = size;
    function.source = source;
    function.name = name.name;
    function.linkage = name.linkage;
    names_.add_function(function);
  }

  const ElfIdentity& layout_;
  NameCollector& names_;
  LinkedNames linked_;
  const ElfSymbol* last_symbol_ = nullptr;
  std::uint64_t last_begin_ = ~std::uint64_t{0};
};

// The folder of an open file.
std::string folder_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  constexpr std::size_t kLongestPath = 4096;
  std::string path(kLongestPath, '\0');
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  path.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return path.substr(0, path.rfind('/'));
}

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
    const std::string beside = folder_of(descriptor) + "/" + std::string(name);
    const Result<io::RootedFile> file = io::open_rooted_file("", beside);
    if (file || file.error().code != ErrorCode::kNotFound) {
      return file.has_value();
    }
  }
  return where == SplitFiles::kAnywhere &&
         is_regular_file(absolute ? std::string(name)
                                  : std::string(folder) + "/" + std::string(name));
}

bool same_place(const DwarfPlace& a, const DwarfPlace& b) {
  return a.inlined == b.inlined && a.file == b.file && a.line == b.line;
}

}  // namespace

std::optional<std::uint64_t> elf_symbol_address(const ElfFiles& files, std::string_view symbol) {
  ::elf_version(EV_CURRENT);
  for (const int descriptor : {files.image, files.debug}) {
    const ElfFile file(descriptor);
    if (file.get() == nullptr) {
      continue;
    }
    if (const auto address = ElfSymbols::address_of(file.get(), symbol)) {
      return address;
    }
  }
  return std::nullopt;
}

Status read_elf_names(const ElfFiles& files, const SymbolRequest& request, NameCollector& names) {
  ::elf_version(EV_CURRENT);
  const ElfFile image(files.image);
  const ElfFile debug(files.debug);
  const ElfFile shared(files.alternate);
  if (image.get() == nullptr && debug.get() == nullptr) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "elf: cannot be read"};
  }
  ElfSymbols symbols;
  symbols.add(image.get());
  symbols.add(debug.get());
  symbols.settle();
  const std::vector<std::uint64_t> addresses = addresses_of(request, files.layout);

  const DwarfFile image_dwarf(image.get());
  const DwarfFile debug_dwarf(debug.get());
  const DwarfFile shared_dwarf(shared.get());
  DwarfSweep dwarf(addresses, request, names);
  for (Dwarf* const file : {image_dwarf.get(), debug_dwarf.get()}) {
    if (file != nullptr) {
      if (shared_dwarf.get() != nullptr) {
        ::dwarf_setalt(file, shared_dwarf.get());
      }
      const int descriptor = file == image_dwarf.get() ? files.image : files.debug;
      dwarf.add(file, [&](std::string_view folder, std::string_view name) {
        return may_open_split(descriptor, files.split, folder, name);
      });
    }
  }

  RowMaker rows(files.layout, request, names);
  ElfSymbols::Sweep sweep(symbols);
  std::uint64_t free_from = 0;  // what lies before belongs to lines of addresses before
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::uint64_t address = addresses[i];
    const DwarfPlace& place = dwarf.places()[i];
    const ElfSymbol* const symbol = sweep.find(address);
    if (symbol != nullptr) {
      rows.add_symbol(*symbol);
    } else if (place.function_end != 0) {
      rows.add_dwarf_function(place);
    } else {
      // A caller's address may be that of the byte before a function which nothing calls.
      if (const ElfSymbol* const next = sweep.begins_at(address + 1); next != nullptr) {
        rows.add_symbol(*next);
      }
      continue;
    }
    if (!request.inlines || (place.file == kNoText && place.inlined == kNoInline)) {
      continue;
    }
    std::uint64_t begin = std::max(place.begin, free_from);
    std::uint64_t end = place.end;
    if (symbol != nullptr) {
      begin = std::max(begin, symbol->start);
      end = std::min(end, symbol->start + symbol->size);
    }
    // The same line for those that follow, as far as it goes.
    std::size_t last = i;
    while (last + 1 < addresses.size() && addresses[last + 1] < end &&
           same_place(place, dwarf.places()[last + 1])) {
      ++last;
    }
    if (last + 1 < addresses.size()) {
      end = std::min(end, addresses[last + 1]);
    }
    begin = std::min(begin, address);
    end = std::max(end, addresses[last] + 1);
    rows.add_line(address, begin, end, place);
    free_from = end;
    // Those that have it have it: only their functions are left.
    for (; i < last; ++i) {
      if (const ElfSymbol* const other = sweep.find(addresses[i + 1]); other != nullptr) {
        rows.add_symbol(*other);
      }
    }
  }
  return {};
}

}  // namespace stackpack::symbolize
