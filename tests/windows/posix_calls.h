// What the tests use of POSIX and the headers for Windows do not have. Compiled into every test
// there.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <io.h>
#include <unistd.h>

#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)

/// A new directory; the closing XXXXXX of `name` becomes its number.
inline char* mkdtemp(char* name) {
  char* const digits = name + std::strlen(name) - 6;
  static int count = ::getpid() % 1000 * 1000;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::memcpy(digits, std::to_string(1'000'000 + ++count % 1'000'000).c_str() + 1, 6);
    std::error_code failed;
    if (std::filesystem::create_directory(name, failed)) {
      return name;
    }
  }
  errno = EEXIST;
  return nullptr;
}

inline int pipe(int (&ends)[2]) {
  return ::_pipe(ends, 65536, _O_BINARY | _O_NOINHERIT);
}
