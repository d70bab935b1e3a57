#pragma once

#include <string_view>

namespace stackpack::io {

enum class Stream { kStandardInput, kStandardOutput, kStandardError };

/// Whether a person is at the other end.
bool is_terminal(Stream stream);

/// Whether it is a terminal that understands colours and movements of the cursor: TERM says so.
bool terminal_moves_cursor(Stream stream);

/// Characters in a line of the terminal; 80 when it is not known.
unsigned terminal_columns(Stream stream);

/// Writes to standard error, whole if possible; failures are ignored, since there is nobody left to
/// say.
void write_standard_error(std::string_view text);

/// From here on SIGINT and SIGTERM set a flag instead of ending the process; a second one ends it.
void catch_interrupts();

/// The signal that came since catch_interrupts(), or 0.
int interrupted_by();

/// Ends the process the way the signal would have done, so that the caller's shell knows.
void end_by_signal(int number);

/// From here on the standard streams carry bytes as they are, UTF-8 on a console, and writing to a
/// closed pipe is an error of that write instead of the process's end.
void prepare_standard_streams();

}  // namespace stackpack::io
