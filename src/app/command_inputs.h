// What a command reads, which it never writes to; src/io does it.
#pragma once

#include "io/files_read.h"

namespace stackpack::app {

using io::FilesRead;

}  // namespace stackpack::app
