#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "io/system_file.h"
#include "support/named_pipe.h"
#include "support/temporary_folder.h"

namespace stackpack::io {

TEST_CASE("rooted file: no link and no .. leads out of the root") {
  namespace fs = std::filesystem;
  const test::ScratchDirectory folder;
  const std::string root = folder.file("root");
  fs::create_directories(root + "/usr/lib");
  std::ofstream(folder.file("secret")) << "secret";
  std::ofstream(root + "/usr/lib/real.so") << "real!";
  std::ofstream(root + "/secret") << "in";
  fs::create_symlink("/usr/lib", root + "/lib");
  fs::create_symlink(folder.file("secret"), root + "/out");
  const Result<RootedFile> plain = open_rooted_file(root, "/usr/lib/real.so");
  REQUIRE(plain.has_value());
  CHECK(plain->bytes == 5);
  const Result<RootedFile> linked = open_rooted_file(root, "/lib/real.so");
  REQUIRE(linked.has_value());
  CHECK(linked->bytes == 5);
  // `..` of the root is the root.
  const Result<RootedFile> above = open_rooted_file(root, "/../secret");
  REQUIRE(above.has_value());
  CHECK(above->bytes == 2);
  const Result<RootedFile> out = open_rooted_file(root, "/out");
  REQUIRE(!out.has_value());
  CHECK(out.error().code == ErrorCode::kNotFound);
}

TEST_CASE("rooted file: a FIFO, a device and a folder are refused at once") {
  const test::ScratchDirectory folder;
  const std::string fifo = folder.file("fifo");
  REQUIRE(test::make_named_pipe(fifo));
  for (const std::string& path : {fifo, std::string("/dev/zero"), folder.file("")}) {
    const Result<RootedFile> file = open_rooted_file("", path);
    REQUIRE(!file.has_value());
    CHECK(file.error().code == ErrorCode::kUnsupported);
  }
  CHECK(open_rooted_file("", folder.file("nothing")).error().code == ErrorCode::kNotFound);
}

}  // namespace stackpack::io
