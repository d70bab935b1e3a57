// Names of the loss counters that unwinding raises, for any format whose samples come with dumps.
// They are stored and shown: a name never changes. docs/unwinding.md explains each.
#pragma once

#include <array>
#include <string_view>

namespace stackpack::capture {

/// Names of the counters of unwinding: the reasons for which a callstack does not reach its root,
/// each sample counted once, and what else a reader of the callstacks should know. All are notices.
namespace unwind_loss {
inline constexpr std::string_view kDumpTooShort = "unwind_dump_too_short";
inline constexpr std::string_view kDumpCut = "unwind_dump_cut";
inline constexpr std::string_view kOtherStack = "unwind_other_stack";
inline constexpr std::string_view kNoMapping = "unwind_return_address_unmapped";
inline constexpr std::string_view kNoImage = "unwind_image_missing";
inline constexpr std::string_view kNoTable = "unwind_no_table";
inline constexpr std::string_view kBadTable = "unwind_bad_table";
inline constexpr std::string_view kLostRegister = "unwind_register_lost";
inline constexpr std::string_view kNoProgress = "unwind_no_progress";
inline constexpr std::string_view kTooDeep = "unwind_too_deep";
/// Dumps that were not unwound: of processes of 32 bits, of other machines.
inline constexpr std::string_view kNarrow = "unwind_narrow_dumps";
inline constexpr std::string_view kOtherMachine = "unwind_unknown_machine";
/// Frames found by the frame pointer, where no table covers the code.
inline constexpr std::string_view kFramePointerSteps = "unwind_frame_pointer_steps";
/// Entries of a bundle (`--symbols BUNDLE.zip`) that were refused: damaged, or of another build.
inline constexpr std::string_view kBundleRefused = "unwind_kit_entries_refused";
/// Those that say why a callstack is incomplete: of these each sample has one at most.
inline constexpr std::array kIncomplete{kDumpTooShort, kDumpCut, kOtherStack, kNoMapping,
                                        kNoImage,      kNoTable, kBadTable,   kLostRegister,
                                        kNoProgress,   kTooDeep};
inline constexpr std::array kOthers{kNarrow, kOtherMachine, kFramePointerSteps, kBundleRefused};
}  // namespace unwind_loss

}  // namespace stackpack::capture
