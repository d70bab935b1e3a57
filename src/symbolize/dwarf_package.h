#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolize/debug_sections.h"

// Handles of libelf and libdw.
struct Elf;
struct Dwarf;

namespace stackpack::symbolize {

/// What the linked program says of a unit whose entries are elsewhere.
struct SkeletonUnit {
  std::uint64_t id = 0;            ///< the same in both files
  std::uint64_t address_base = 0;  ///< of its part of .debug_addr
  std::uint64_t ranges_base = 0;   ///< of its part of .debug_ranges (DWARF 4)
  std::uint64_t low_address = 0;   ///< ranges of the unit count from here
};

/// The parts of .debug_addr and .debug_ranges that units have: from their base to the next one's.
class UnitBases {
 public:
  void add(std::uint64_t base) { bases_.push_back(base); }
  void settle();
  /// After settle().
  [[nodiscard]] std::uint64_t end_of(std::uint64_t base) const;

 private:
  std::vector<std::uint64_t> bases_;
};

/// A package of split debug information (.dwp): the units of many .dwo files, found by their ids.
///
/// libdw 0.188 knows no packages. So each unit that is asked for becomes an ELF file in memory, in
/// which it is the only one and everything it refers to begins at 0, which is what the unit relies
/// on; addresses and ranges are copied from the linked program. An index of version 2 (DWARF 4,
/// as GNU tools make it) or 5. Type units have no code, and are not looked at.
/// The package may be hostile: offsets and sizes are checked, and no unit costs more memory than
/// the two files have bytes.
class DwarfPackage {
 public:
  /// Both files must stay open. Errors: std::bad_alloc, also where the library lacks memory.
  DwarfPackage(Elf* package, Elf* linked);
  DwarfPackage(const DwarfPackage&) = delete;
  DwarfPackage& operator=(const DwarfPackage&) = delete;
  ~DwarfPackage();

  [[nodiscard]] bool has(std::uint64_t id) const { return rows_.contains(id); }

  /// There is an index, and it cannot be read.
  [[nodiscard]] bool is_damaged() const { return damaged_; }

  /// The bases of all units of the linked program, before open().
  void add_bases(const SkeletonUnit& unit);

  /// Debug information with that unit alone: its addresses are low_address too small. What was
  /// opened before is gone. Null: it cannot be read.
  Dwarf* open(const SkeletonUnit& unit);

 private:
  struct Section {
    std::string_view name;
    std::span<const std::byte> content;
  };
  struct Columns;  // of the index
  struct OpenUnit;

  void read_index(std::span<const std::byte> index);
  [[nodiscard]] std::optional<std::span<const std::byte>> part(std::uint32_t row,
                                                               std::uint32_t section) const;
  bool add_part(std::uint32_t row, std::uint32_t section, std::string_view name);
  void add_addresses(const SkeletonUnit& unit);
  void add_ranges(const SkeletonUnit& unit);
  [[nodiscard]] std::span<const std::byte> content_of(std::uint32_t section) const;

  DebugSections::Machine machine_;
  DebugSections file_;
  std::vector<Section> sections_;  // of the package
  std::span<const std::byte> addresses_;
  std::span<const std::byte> ranges_;
  UnitBases address_bases_;
  UnitBases ranges_bases_;
  bool settled_ = false;
  bool damaged_ = false;
  std::uint32_t version_ = 0;
  std::vector<std::uint32_t> columns_;  // the sections that they are of
  std::span<const std::byte> offsets_;  // a table, a row per unit
  std::span<const std::byte> sizes_;
  std::unordered_map<std::uint64_t, std::uint32_t> rows_;  // by id
  std::unique_ptr<OpenUnit> open_;
};

}  // namespace stackpack::symbolize
