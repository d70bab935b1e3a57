// What the program may ask of the terminal, of signals and of output folders; src/io does it.
#pragma once

#include "io/desktop.h"
#include "io/output_rules.h"
#include "io/terminal.h"
#include "io/utf8_path.h"
#ifdef _WIN32
#include "io/windows/windows_names.h"
#endif

namespace stackpack::app {

using io::catch_interrupts;
using io::end_by_signal;
using io::interrupted_by;
using io::is_terminal;
using io::make_private_file;
using io::open_on_desktop;
using io::path_of;
using io::prepare_standard_streams;
using io::remove_leftovers;
using io::remove_private_file;
using io::Stream;
using io::terminal_columns;
using io::terminal_moves_cursor;
using io::write_standard_error;
#ifdef _WIN32
using io::to_utf8;
#endif

}  // namespace stackpack::app
