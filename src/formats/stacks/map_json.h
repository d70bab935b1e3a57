// Maps of bpftrace in its JSON, which has one message in a line.
#pragma once

#include <string>
#include <string_view>

namespace stackpack::stacks {

/// Replaces `text` by what bpftrace prints of a message without -f json: the entries of a map,
/// nothing of others. False: the line is no message.
bool print_message(std::string_view line, std::string& text);

/// Whether a line that goes on begins as a map with callstacks.
bool begins_as_map(std::string_view line);

}  // namespace stackpack::stacks
