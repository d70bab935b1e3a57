#include "io/directories.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace stackpack::io {

TEST_CASE("directories: a listing names everything once, in the order of bytes") {
  const test::ScratchDirectory folder;
  for (const char* name : {"b", "a.2", "a.10", ".hidden"}) {
    std::ofstream(folder.file(name)) << name;
  }
  std::filesystem::create_directory(folder.file("sub"));
  const auto names = list_directory(folder.file(""));
  REQUIRE(names.has_value());
  CHECK(*names == std::vector<std::string>{".hidden", "a.10", "a.2", "b", "sub"});
}

TEST_CASE("directories: what is not there, and what is no directory") {
  const test::ScratchDirectory folder;
  CHECK(list_directory(folder.file("none")).error().code == ErrorCode::kNotFound);
  std::ofstream(folder.file("file")) << "text";
  CHECK(list_directory(folder.file("file")).error().code == ErrorCode::kIo);
}

}  // namespace stackpack::io
