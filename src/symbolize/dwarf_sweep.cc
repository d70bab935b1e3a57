#include "symbolize/dwarf_sweep.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbolize/dwarf_package.h"
#include "symbolize/library_memory.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint64_t kReleaseBytes = std::uint64_t{8} << 20;  // of entries

// The library would end the process. For clang only this attribute is part of the type that it
// wants.
__attribute__((noreturn)) void end_for_lack_of_memory() {
  throw std::bad_alloc();
}

bool may_open(Dwarf_Die& unit, const DwarfSweep::MayOpen& may_open_split) {
  const char* name = dwarf_text(unit, DW_AT_dwo_name);
  name = name == nullptr ? dwarf_text(unit, DW_AT_GNU_dwo_name) : name;
  const char* const folder = dwarf_text(unit, DW_AT_comp_dir);
  return name != nullptr && may_open_split(folder == nullptr ? "" : folder, name);
}

// Where the program has the addresses and ranges of a unit whose entries are elsewhere.
SkeletonUnit skeleton_of(Dwarf_Die& top) {
  SkeletonUnit unit;
  ::dwarf_cu_info(top.cu, nullptr, nullptr, nullptr, nullptr, &unit.id, nullptr, nullptr);
  unit.address_base = dwarf_number(top, DW_AT_addr_base);
  if (unit.address_base == 0) {
    unit.address_base = dwarf_number(top, DW_AT_GNU_addr_base);
  }
  unit.ranges_base = dwarf_number(top, DW_AT_GNU_ranges_base);
  Dwarf_Addr low = 0;
  unit.low_address = ::dwarf_lowpc(&top, &low) == 0 ? low : 0;
  return unit;
}

}  // namespace

/// The units of a file.
class DwarfSweep::File {
 public:
  File(DwarfSearch& search, Dwarf* file, const Access& access)
      : search_(search), file_(file), access_(access) {
    if (access.package != nullptr) {
      package_ = std::make_unique<DwarfPackage>(access.package, access.linked);
      search_.names.losses().damaged_parts += package_->is_damaged() ? 1U : 0U;
      each_unit([this](Dwarf_Die& top, std::uint8_t type) {
        if (type == DW_UT_skeleton) {
          package_->add_bases(skeleton_of(top));
        }
      });
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (package_ != nullptr) {
      search_.forget_file();
    }
  }

  void add() {
    Dwarf_Off released = 0;
    const bool whole = each_unit([&](Dwarf_Die& top, std::uint8_t type) {
      const Dwarf_Off offset = ::dwarf_dieoffset(&top);
      if (offset - released > kReleaseBytes) {
        released = offset;
        access_.release();
      }
      if ((type == DW_UT_compile || type == DW_UT_skeleton) && may_have_addresses(top)) {
        add_unit(top, type == DW_UT_skeleton);
      }
    });
    heed_lack_of_memory();
    search_.names.losses().damaged_parts += whole ? 0U : 1U;
  }

 private:
  // Calls visit(entry, type) for each unit. Whether all could be read.
  template <typename Visit>
  bool each_unit(const Visit& visit) {
    Dwarf_CU* unit = nullptr;
    Dwarf_CU* next = nullptr;
    Dwarf_Half version = 0;
    std::uint8_t type = 0;
    Dwarf_Die top;
    int more = 0;
    while ((more = ::dwarf_get_units(file_, unit, &next, &version, &type, &top, nullptr)) == 0) {
      unit = next;
      visit(top, type);
    }
    return more > 0;
  }

  void add_unit(Dwarf_Die& top, bool is_skeleton) {
    if (is_skeleton && add_packaged(top)) {
      return;
    }
    Dwarf_Die split{};
    DwarfUnitEntries unit{top, top};
    if (is_skeleton) {
      if (may_open(top, access_.may_open_split) &&
          ::dwarf_cu_info(top.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) ==
              0 &&
          split.addr != nullptr) {
        ::dwarf_new_oom_handler(::dwarf_cu_getdwarf(split.cu), &end_for_lack_of_memory);
        unit.code = split;
      } else {
        heed_lack_of_memory();
        ++search_.names.losses().missing_files;
      }
    }
    read(unit);
  }

  void read(const DwarfUnitEntries& unit) {
    search_.names.losses().damaged_parts += read_dwarf_unit(search_, unit) ? 0U : 1U;
  }

  // Whether the package has the entries of a unit.
  bool add_packaged(Dwarf_Die& top) {
    const SkeletonUnit skeleton = skeleton_of(top);
    if (package_ == nullptr || !package_->has(skeleton.id)) {
      return false;
    }
    // What was known by its place in the unit before may be something else in this one.
    search_.forget_file();
    Dwarf* const file = package_->open(skeleton);
    DwarfUnitEntries unit{top, top, skeleton.low_address};
    Dwarf_CU* code = nullptr;
    if (file == nullptr ||
        ::dwarf_get_units(file, nullptr, &code, nullptr, nullptr, &unit.code, nullptr) != 0) {
      heed_lack_of_memory();
      ++search_.names.losses().damaged_parts;
      return false;
    }
    ::dwarf_new_oom_handler(file, &end_for_lack_of_memory);
    const char* const folder = dwarf_text(top, DW_AT_comp_dir);
    unit.folder = folder == nullptr ? "" : folder;
    read(unit);
    return true;
  }

  // Whether a unit has any of the addresses. One that does not say is looked at.
  bool may_have_addresses(Dwarf_Die& top) const {
    const auto& all = search_.addresses;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    bool has_ranges = false;
    for (ptrdiff_t at = 0; (at = ::dwarf_ranges(&top, at, &base, &begin, &end)) > 0;) {
      has_ranges = true;
      const auto first = std::lower_bound(all.begin(), all.end(), begin);
      if (first != all.end() && *first < end) {
        return true;
      }
    }
    return !has_ranges && ::dwarf_haschildren(&top) != 0;
  }

  DwarfSearch& search_;
  Dwarf* file_;
  const Access& access_;
  std::unique_ptr<DwarfPackage> package_;
};

void DwarfSweep::add(Dwarf* file, const Access& access) {
  ::dwarf_new_oom_handler(file, &end_for_lack_of_memory);
  File(search_, file, access).add();
}

}  // namespace stackpack::symbolize
