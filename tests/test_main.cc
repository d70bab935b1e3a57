#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "support/source_folder.h"

namespace stackpack::test {

const std::string& source_folder() {
  static const std::string folder = STACKPACK_SOURCE_DIR;
  return folder;
}

}  // namespace stackpack::test
