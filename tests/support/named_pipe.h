// A file that a reader would wait for.
#pragma once

#include <string>

#include <sys/stat.h>

namespace stackpack::test {

/// Makes a FIFO. False where it cannot be made: on Windows none is a file.
inline bool make_named_pipe(const std::string& path) {
#ifdef _WIN32
  return path.empty();
#else
  return ::mkfifo(path.c_str(), 0600) == 0;
#endif
}

}  // namespace stackpack::test
