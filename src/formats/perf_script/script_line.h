// The lines of `perf script` with its default fields, one at a time. Texts are views of the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "stackpack/model.h"

namespace stackpack::perf_script {

inline constexpr std::size_t kAddressColumns = 16;  ///< in which perf right-aligns an address

/// The first line of a sample: `COMM PID/TID [CPU] MISC SECONDS: PERIOD EVENT: REST`. What of it is
/// there depends on what was recorded and on -F.
struct SampleHead {
  std::string_view comm;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t cpu = kUnknownId;
  std::uint64_t time_ns = kUnknownTime;
  std::uint64_t period = 1;
  bool has_period = false;
  std::string_view event;  ///< empty: not told
  std::string_view rest;   ///< an address, branches, or what a tracepoint says

  /// No sample but a record such as a mapping; nothing after the time is set.
  bool other_record = false;
};

/// A line with a time; or without one, with a process or thread and an event. Nothing when it is
/// neither.
std::optional<SampleHead> parse_head(std::string_view line);

/// The whole sample where there are no callstacks and no times: `COMM TID ADDRESS NAME` and
/// `COMM EVENT: ADDRESS NAME`.
std::optional<SampleHead> parse_flat_sample(std::string_view line);

/// The same where perf's own columns say so: the address is in as many as no other field has, or
/// the event is the last word, with a blank behind its colon. Such a line is none of a callstack.
std::optional<SampleHead> parse_aligned_sample(std::string_view line);

/// A line without a time that says so little, such as a name alone, that it is the first line of a
/// sample only where a callstack follows.
SampleHead parse_bare_head(std::string_view line);

/// A line of a callstack: `ADDRESS NAME+OFFSET (FILE)` or `ADDRESS NAME (inlined)`.
struct ScriptFrame {
  std::uint64_t address = 0;
  std::string_view name;  ///< empty: not known
  std::string_view file;  ///< empty: not known
  bool inlined = false;   ///< into the function of the next line
};

/// Nothing when the line, without the blanks around it, is none.
std::optional<ScriptFrame> parse_frame(std::string_view text);

/// Whether the line is the first one of a sample and begins with a thread or a period, and not with
/// an address, which has a tab in front, or more columns.
bool begins_with_number(std::string_view line);

/// Where the sample is, of a text that may have an address of data in front (-F +addr).
std::string_view last_location(std::string_view text);

/// Without the bytes of an instruction or their number, with which -F +insn and +insnlen end a
/// sample: its only line, or one after its callstack.
std::string_view without_instruction(std::string_view line);

/// What -F +metric adds in lines of their own, which may begin as a sample does.
bool is_metric(std::string_view line);

/// Entries of a branch stack (`0xFROM/0xTO/P/-/-/0`) in the text.
std::uint64_t count_branches(std::string_view text);

/// What comes before the first entry of a branch stack, without blanks at its end.
std::string_view before_branches(std::string_view text);

/// A branch of a hardware trace, `FLAGS FROM => TO`: what comes before the arrow. Nothing when the
/// text is none.
std::optional<ScriptFrame> parse_traced_branch(std::string_view text);

/// Where a frame is in its source, as -F +srcline adds it in a line of its own: `file.c:12`, and
/// `IMAGE[ADDRESS]` or `:0` where it is not known.
struct SourcePlace {
  std::string_view file;
  std::uint32_t line = 0;
  bool inlined = false;  ///< the frame is: perf says so behind the source line then
};

/// Nothing when the line, without the blanks around it, is none.
std::optional<SourcePlace> parse_source_place(std::string_view text);

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace stackpack::perf_script
