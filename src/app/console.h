// What the program may ask of the terminal and of signals; src/io does it.
#pragma once

#include "io/terminal.h"

namespace stackpack::app {

using io::catch_interrupts;
using io::end_by_signal;
using io::ignore_broken_pipes;
using io::interrupted_by;
using io::is_terminal;
using io::Stream;
using io::terminal_columns;
using io::write_standard_error;

}  // namespace stackpack::app
