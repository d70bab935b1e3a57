#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>

#include <doctest/doctest.h>

#include "support/sanitizer.h"
#include "support/source_folder.h"

namespace stackpack::test {

const std::string& source_folder() {
  static const std::string folder = STACKPACK_SOURCE_DIR;
  return folder;
}

}  // namespace stackpack::test

int main(int count, char** arguments) {
#ifndef _WIN32
  // A recording made on this machine keeps copies of what ran, these tests as well, in ~/.debug.
  setenv("HOME", "/nonexistent", 1);
  unsetenv("XDG_CACHE_HOME");
#endif
  doctest::Context context(count, arguments);
  if (stackpack::test::leaves_out_same_threads()) {
    context.addFilter("test-suite-exclude", stackpack::test::kNoThreadsOfItsOwn);
  }
  return context.run();
}
