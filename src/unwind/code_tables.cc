#include "unwind/code_tables.h"

#include <utility>

#include "unwind/cfa_program.h"

namespace stackpack::unwind {

namespace {

// The code at the entry point goes on for less than this before it calls.
constexpr std::uint64_t kEntryBytes = 128;

}  // namespace

CodeTables::CodeTables(ElfLayout layout, LoadedSection debug_frame, std::uint64_t steps)
    : layout_(std::move(layout)), steps_(steps) {
  if (!debug_frame.bytes.empty()) {
    layout_.debug_frame = std::move(debug_frame);
  }
  if (!layout_.eh_frame.bytes.empty()) {
    eh_frame_ = FdeIndex(
        FrameSection(layout_.eh_frame.bytes, layout_.eh_frame.address, FrameFormat::kEhFrame),
        layout_.eh_frame_header.bytes, layout_.eh_frame_header.address);
  }
  if (!layout_.debug_frame.bytes.empty()) {
    debug_frame_ = FdeIndex(FrameSection(layout_.debug_frame.bytes, layout_.debug_frame.address,
                                         FrameFormat::kDebugFrame),
                            {}, 0);
  }
}

CodeTables::Found CodeTables::find(std::uint64_t address, RuleTable& rules) {
  std::span<const std::byte> bytes = layout_.eh_frame.bytes;
  std::optional<Fde> fde = eh_frame_.find(address);
  if (!fde) {
    fde = debug_frame_.find(address);
    bytes = layout_.debug_frame.bytes;
  }
  if (!fde) {
    const bool entry = layout_.entry != 0 && address - layout_.entry < kEntryBytes;
    return {entry ? TableAnswer::kEntryPoint : TableAnswer::kNone, RuleTable::kNone};
  }
  FrameRow row;
  if (run_to(*fde, address, steps_, row) != ProgramEnd::kRow) {
    return {TableAnswer::kBad, RuleTable::kNone};
  }
  const std::uint32_t rule =
      rules.number(row, bytes, fde->cie.return_register, fde->cie.is_signal_frame);
  return {rule == RuleTable::kNone ? TableAnswer::kBad : TableAnswer::kRule, rule};
}

std::size_t CodeTables::memory_bytes() const {
  return layout_.memory_bytes() + eh_frame_.memory_bytes() + debug_frame_.memory_bytes();
}

}  // namespace stackpack::unwind
