#pragma once

#include <cstdint>
#include <optional>

#include "unwind/elf_layout.h"
#include "unwind/fde_index.h"
#include "unwind/rule_table.h"

namespace stackpack::unwind {

/// What the tables of a file say about an address.
enum class TableAnswer : std::uint8_t {
  kRule,
  kNone,        ///< no table covers it
  kEntryPoint,  ///< no table covers it, and it is where the program begins: there is no caller
  kBad,         ///< its table is damaged, not understood, or took too many steps
};

/// The tables of one file, decoded address by address as they are asked for.
///
/// Steps:   a hostile file could have a long program for many functions; all programs of a file
///          together have kMostSteps.
/// Threads: one at a time.
class CodeTables {
 public:
  /// The rows of the largest file known take 2 million.
  static constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 26;

  /// `debug_frame`: of another file with the same addresses, whose own is used in its stead; may be
  /// empty. `steps`: left of an earlier use of the same file.
  CodeTables(ElfLayout layout, LoadedSection debug_frame, std::uint64_t steps = kMostSteps);
  CodeTables(const CodeTables&) = delete;  // indexes refer to the sections
  CodeTables& operator=(const CodeTables&) = delete;

  struct Found {
    TableAnswer answer = TableAnswer::kNone;
    std::uint32_t rule = RuleTable::kNone;
  };
  /// The rule for `address`, an address in the file.
  Found find(std::uint64_t address, RuleTable& rules);

  /// Whether the tables say the same without .eh_frame_hdr.
  [[nodiscard]] bool header_adds_nothing() const { return eh_frame_.is_as_made(); }

  [[nodiscard]] const ElfLayout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t steps_left() const { return steps_; }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  ElfLayout layout_;
  std::uint64_t steps_;
  FdeIndex eh_frame_;
  FdeIndex debug_frame_;
};

}  // namespace stackpack::unwind
