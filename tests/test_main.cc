#define DOCTEST_CONFIG_IMPLEMENT
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
  doctest::Context context(count, arguments);
  if (stackpack::test::leaves_out_same_threads()) {
    context.addFilter("test-suite-exclude", stackpack::test::kNoThreadsOfItsOwn);
  }
  return context.run();
}
