#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "unwind/elf_layout.h"
#include "unwind/frame_section.h"
#include "unwind/rule_table.h"

namespace stackpack::unwind {

/// Finds the FDE of an address: by the table that linkers make (.eh_frame_hdr) where there is one
/// in the usual form, else by a table made of all FDEs, once.
///
/// The bytes of the sections must outlive it. A table that lies gives no FDE, or one that does not
/// cover the address, which is the same.
class FdeIndex {
 public:
  /// FDEs of a table that is made; there are 160,000 in the largest file known.
  static constexpr std::size_t kMostMade = std::size_t{1} << 20;

  FdeIndex() = default;
  /// `header`: the content of .eh_frame_hdr, at `header_address`; empty: there is none.
  FdeIndex(const FrameSection& section, std::span<const std::byte> header,
           std::uint64_t header_address);

  /// The FDE that covers `address`. Cost: logarithmic.
  [[nodiscard]] std::optional<Fde> find(std::uint64_t address) const;

  /// Whether a table made of the FDEs is the one of the header, so that nothing is lost without
  /// the header. Cost: as of making it.
  [[nodiscard]] bool is_as_made() const;

  /// What the made table takes.
  [[nodiscard]] std::size_t memory_bytes() const { return made_.size() * sizeof(Made); }

 private:
  struct Made {
    std::uint64_t begin = 0;
    std::uint64_t offset = 0;
  };
  bool use_header(std::span<const std::byte> header, std::uint64_t header_address);
  [[nodiscard]] std::vector<Made> made_table() const;
  [[nodiscard]] std::optional<Fde> find_by_header(std::uint64_t address) const;

  FrameSection section_;
  std::span<const std::byte> pairs_;  // of .eh_frame_hdr: address, place of the FDE
  std::uint64_t base_ = 0;            // which they are relative to
  std::vector<Made> made_;
};

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
