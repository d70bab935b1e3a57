#pragma once

#include <cstdint>
#include <string>

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::cli {

/// `s` open at the start, `e` at the end, `l` cut by lost records, `n` no waking; or `-`.
std::string flag_letters(std::uint8_t flags);
/// `123`, `irq:123`, `dpc:123`, `~123` of a hint; or `-`.
std::string waker_text(const WaitInterval& row);

/// Lists the intervals: a line of names, a line a row, by thread and time.
Status dump_intervals(const Reader& reader, const DumpArguments& arguments, app::TextOutput& out);

}  // namespace stackpack::cli
