// Layout of the index: DWARF 5, section 7.3.5; version 2 of it: the proposal for DWARF 4 of GCC
// (https://gcc.gnu.org/wiki/DebugFissionDWP).
#include "symbolize/dwarf_package.h"

#include <algorithm>
#include <array>
#include <limits>

#include <elfutils/libdw.h>
#include <gelf.h>

#include "bytes/byte_cursor.h"
#include "symbolize/library_memory.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteCursor;
using Content = std::span<const std::byte>;

constexpr std::uint32_t kGnuVersion = 2;
constexpr std::uint32_t kDwarf5 = 5;
constexpr std::uint32_t kMostColumns = 16;

// Sections as the index numbers them.
constexpr std::uint32_t kInfo = 1;
constexpr std::uint32_t kAbbreviations = 3;
constexpr std::uint32_t kLines = 4;
constexpr std::uint32_t kTextOffsets = 6;
constexpr std::uint32_t kRangeLists = 8;  // version 5 only

struct NumberedName {
  std::uint32_t number = 0;
  std::string_view name;
};
constexpr std::array kSectionNames{
    NumberedName{kInfo, ".debug_info.dwo"}, NumberedName{kAbbreviations, ".debug_abbrev.dwo"},
    NumberedName{kLines, ".debug_line.dwo"}, NumberedName{kTextOffsets, ".debug_str_offsets.dwo"},
    NumberedName{kRangeLists, ".debug_rnglists.dwo"}};

// The content of a section, unpacked; nothing when it cannot be read.
Content content_of_part(Elf_Scn* part) {
  GElf_Shdr header{};
  if (::gelf_getshdr(part, &header) == nullptr || header.sh_type == SHT_NOBITS ||
      ((header.sh_flags & SHF_COMPRESSED) != 0 && ::elf_compress(part, 0, 0) < 0)) {
    return {};
  }
  const Elf_Data* const data = ::elf_rawdata(part, nullptr);
  return data == nullptr || data->d_buf == nullptr
             ? Content()
             : Content(static_cast<const std::byte*>(data->d_buf), data->d_size);
}

// Calls visit(name, section) for the named sections of a file.
template <typename Visit>
void each_section(Elf* file, const Visit& visit) {
  std::size_t sections = 0;
  std::size_t names = 0;
  if (::elf_getshdrnum(file, &sections) != 0 || ::elf_getshdrstrndx(file, &names) != 0) {
    return;
  }
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    const char* const name = part == nullptr || ::gelf_getshdr(part, &header) == nullptr
                                 ? nullptr
                                 : ::elf_strptr(file, names, header.sh_name);
    if (name != nullptr) {
      visit(std::string_view(name), part);
    }
  }
}

DebugSections::Machine machine_of(Elf* file) {
  GElf_Ehdr header{};
  if (::gelf_getehdr(file, &header) == nullptr) {
    return {};
  }
  return {
      header.e_ident[EI_CLASS] == ELFCLASS64,
      header.e_ident[EI_DATA] == ELFDATA2LSB ? bytes::ByteOrder::kLittle : bytes::ByteOrder::kBig,
      header.e_machine};
}

/// Addresses of a table that is changed in place.
class AddressTable {
 public:
  AddressTable(std::span<std::byte> table, const DebugSections::Machine& machine)
      : table_(table), order_(machine.order), width_(machine.is_64_bit ? 8 : 4) {}

  [[nodiscard]] std::size_t size() const { return table_.size() / width_; }

  [[nodiscard]] std::uint64_t operator[](std::size_t i) const {
    ByteCursor in(table_.subspan(i * width_, width_), 0, order_);
    return width_ == 8 ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
  }

  void put(std::size_t i, std::uint64_t value) {
    for (std::size_t byte = 0; byte < width_; ++byte) {
      const std::size_t place = order_ == bytes::ByteOrder::kLittle ? byte : width_ - 1 - byte;
      table_[i * width_ + place] = static_cast<std::byte>(value >> (8 * byte));
    }
  }

  [[nodiscard]] std::uint64_t highest() const {
    return width_ == 8 ? std::numeric_limits<std::uint64_t>::max()
                       : std::numeric_limits<std::uint32_t>::max();
  }

 private:
  std::span<std::byte> table_;
  bytes::ByteOrder order_;
  std::size_t width_;
};

Content part_of(Content section, std::uint64_t begin, std::uint64_t end) {
  end = std::min<std::uint64_t>(end, section.size());
  return begin >= end ? Content()
                      : section.subspan(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(end - begin));
}

}  // namespace

struct DwarfPackage::OpenUnit {
  explicit OpenUnit(std::span<std::byte> file)
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the library wants
      : elf(::elf_memory(static_cast<char*>(static_cast<void*>(file.data())), file.size())),
        dwarf(elf == nullptr ? nullptr : ::dwarf_begin_elf(elf, DWARF_C_READ, nullptr)) {
    heed_lack_of_memory();
  }
  OpenUnit(const OpenUnit&) = delete;
  OpenUnit& operator=(const OpenUnit&) = delete;
  ~OpenUnit() {
    ::dwarf_end(dwarf);
    ::elf_end(elf);
  }

  Elf* elf;
  Dwarf* dwarf;
};

void UnitBases::settle() {
  std::sort(bases_.begin(), bases_.end());
}

std::uint64_t UnitBases::end_of(std::uint64_t base) const {
  const auto next = std::upper_bound(bases_.begin(), bases_.end(), base);
  return next == bases_.end() ? std::numeric_limits<std::uint64_t>::max() : *next;
}

DwarfPackage::DwarfPackage(Elf* package, Elf* linked)
    : machine_(machine_of(package)), file_(machine_) {
  Content index;
  each_section(package, [&](std::string_view name, Elf_Scn* part) {
    if (name == ".debug_cu_index") {
      index = content_of_part(part);
    } else if (name == ".debug_str.dwo") {
      file_.add(".debug_str", content_of_part(part));
    } else if (const auto* const known =
                   std::find_if(kSectionNames.begin(), kSectionNames.end(),
                                [name](const NumberedName& one) { return one.name == name; });
               known != kSectionNames.end()) {
      sections_.push_back({known->name, content_of_part(part)});
    }
  });
  file_.keep();
  each_section(linked, [this](std::string_view name, Elf_Scn* part) {
    if (name == ".debug_addr") {
      addresses_ = content_of_part(part);
    } else if (name == ".debug_ranges") {
      ranges_ = content_of_part(part);
    }
  });
  heed_lack_of_memory();
  read_index(index);
}

DwarfPackage::~DwarfPackage() = default;

void DwarfPackage::read_index(Content index) {
  ByteCursor in(index, 0, machine_.order);
  version_ = in.read<std::uint32_t>();
  if (version_ != kGnuVersion) {  // 16 bits, and as many that are not used
    ByteCursor head(index, 0, machine_.order);
    version_ = head.read<std::uint16_t>();
  }
  const auto columns = in.read<std::uint32_t>();
  const std::uint64_t units = in.read<std::uint32_t>();
  const std::uint64_t slots = in.read<std::uint32_t>();
  ByteCursor ids = in.sub(slots * sizeof(std::uint64_t));
  ByteCursor rows = in.sub(slots * sizeof(std::uint32_t));
  if (!in.ok() || (version_ != kGnuVersion && version_ != kDwarf5) || columns > kMostColumns) {
    damaged_ = true;
    return;
  }
  for (std::uint32_t i = 0; i < columns; ++i) {
    columns_.push_back(in.read<std::uint32_t>());
  }
  const std::uint64_t table_bytes = units * columns * sizeof(std::uint32_t);
  offsets_ = in.read_bytes(table_bytes);
  sizes_ = in.read_bytes(table_bytes);
  if (!in.ok()) {
    damaged_ = true;
    return;
  }
  for (std::uint64_t i = 0; i < slots; ++i) {
    const auto id = ids.read<std::uint64_t>();
    const auto row = rows.read<std::uint32_t>();
    if (row != 0 && row <= units) {
      rows_.try_emplace(id, row - 1);
    }
  }
}

void DwarfPackage::add_bases(const SkeletonUnit& unit) {
  address_bases_.add(unit.address_base);
  ranges_bases_.add(unit.ranges_base);
}

Content DwarfPackage::content_of(std::uint32_t section) const {
  const auto* const name =
      std::find_if(kSectionNames.begin(), kSectionNames.end(),
                   [section](const NumberedName& one) { return one.number == section; });
  const auto known =
      name == kSectionNames.end()
          ? sections_.end()
          : std::find_if(sections_.begin(), sections_.end(),
                         [name](const Section& one) { return one.name == name->name; });
  return known == sections_.end() ? Content() : known->content;
}

// What a unit has of a section; nothing when the index has no such column.
std::optional<Content> DwarfPackage::part(std::uint32_t row, std::uint32_t section) const {
  const auto column = std::find(columns_.begin(), columns_.end(), section);
  if (column == columns_.end()) {
    return std::nullopt;
  }
  const std::uint64_t at =
      (std::uint64_t{row} * columns_.size() + static_cast<std::size_t>(column - columns_.begin())) *
      sizeof(std::uint32_t);
  ByteCursor offsets(offsets_, 0, machine_.order);
  ByteCursor sizes(sizes_, 0, machine_.order);
  offsets.seek(at);
  sizes.seek(at);
  const std::uint64_t offset = offsets.read<std::uint32_t>();
  const std::uint64_t size = sizes.read<std::uint32_t>();
  ByteCursor content(content_of(section), 0, machine_.order);
  content.skip(offset);
  const Content bytes = content.read_bytes(size);
  return offsets.ok() && sizes.ok() && content.ok() ? std::optional(bytes) : std::nullopt;
}

bool DwarfPackage::add_part(std::uint32_t row, std::uint32_t section, std::string_view name) {
  const std::optional<Content> content = part(row, section);
  if (content && !content->empty()) {
    file_.add(name, *content);
  }
  return content.has_value();
}

// Addresses count from that of the unit, as its ranges do.
void DwarfPackage::add_addresses(const SkeletonUnit& unit) {
  const Content part =
      part_of(addresses_, unit.address_base, address_bases_.end_of(unit.address_base));
  AddressTable table(file_.add(".debug_addr", part), machine_);
  for (std::size_t i = 0; unit.low_address != 0 && i < table.size(); ++i) {
    table.put(i, table[i] - unit.low_address);
  }
}

void DwarfPackage::add_ranges(const SkeletonUnit& unit) {
  const Content part = part_of(ranges_, unit.ranges_base, ranges_bases_.end_of(unit.ranges_base));
  AddressTable table(file_.add(".debug_ranges", part), machine_);
  // The highest number before an address says that what follows counts from that one.
  for (std::size_t i = 0; unit.low_address != 0 && i + 1 < table.size(); i += 2) {
    if (table[i] == table.highest()) {
      table.put(i + 1, table[i + 1] - unit.low_address);
    }
  }
}

Dwarf* DwarfPackage::open(const SkeletonUnit& unit) {
  if (!settled_) {
    address_bases_.settle();
    ranges_bases_.settle();
    settled_ = true;
  }
  open_.reset();
  file_.drop();
  const auto known = rows_.find(unit.id);
  if (known == rows_.end() || !add_part(known->second, kInfo, ".debug_info") ||
      !add_part(known->second, kAbbreviations, ".debug_abbrev")) {
    return nullptr;
  }
  add_part(known->second, kLines, ".debug_line");
  add_part(known->second, kTextOffsets, ".debug_str_offsets");
  if (version_ == kDwarf5) {
    add_part(known->second, kRangeLists, ".debug_rnglists");
  } else {
    add_ranges(unit);
  }
  add_addresses(unit);
  open_ = std::make_unique<OpenUnit>(file_.finish());
  return open_->dwarf;
}

}  // namespace stackpack::symbolize
