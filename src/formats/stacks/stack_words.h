// Words and names in texts of callstacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/stacks/stack_line.h"

namespace stackpack::stacks {

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

bool is_digits(std::string_view text);
bool is_hex_digits(std::string_view text);

/// A process or thread number; nothing when it is none.
std::optional<std::uint32_t> id_of(std::string_view text);

/// The next word of `rest`, which begins after it then.
std::string_view take_word(std::string_view& rest);

/// A name without `+0x1f`, `+0x1f/0x40` or `+31` at its end.
std::string_view without_offset(std::string_view name);

/// A function of DTrace, `IMAGE`NAME(ARGUMENTS)`: the name is what stackcollapse.pl leaves, image
/// included, and the linkage all of it.
TextFrame frame_of_tick(std::string_view text);

/// A callstack with that weight is over.
StackLine end_of(const core::DecimalWeight& weight);

}  // namespace stackpack::stacks
