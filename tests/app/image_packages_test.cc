// dpkg is of systems whose files may have a colon in their names.
#ifndef _WIN32
#include "app/analysis/image_packages.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

Module image(const std::string& path) {
  Module module;
  module.path = path;
  return module;
}

TEST_SUITE_BEGIN("image packages");

TEST_CASE("packages are those whose lists have the path, or that the path names") {
  const ScratchDirectory folder;
  const std::filesystem::path info = folder.file("info");
  std::filesystem::create_directories(info);
  std::ofstream(info / "libz1:amd64.list") << "/.\n/lib\n/lib/x/libz.so.1.2\n/usr/lib/both\n";
  std::ofstream(info / "prog.list") << "/usr/bin/prog\n/usr/lib/both";  // the last line has no end
  std::ofstream(info / "prog.md5sums") << "/usr/bin/other\n";
  REQUIRE(::setenv("DPKG_ADMINDIR", folder.file("").c_str(), 1) == 0);
  const std::vector<Module> modules = {
      image("/usr/lib/x/libz.so.1.2"),
      image("/lib/x/libz.so.1.2"),
      image("/usr/lib/both"),
      image("/usr/bin/prog"),
      image("/usr/bin/other"),
      image("[vdso]"),
      image("/snap/ff/12/usr/ff"),
      image("/nix/store/0123456789abcdfghijklmnpqrsvwxyz-hello-2.12/bin/hello")};
  const app::ImagePackages packages(modules);
  REQUIRE(::unsetenv("DPKG_ADMINDIR") == 0);
  std::vector<std::string> names;
  for (const Module& module : modules) {
    names.emplace_back(packages.of(module));
  }
  CHECK(names == std::vector<std::string>{"libz1", "libz1", "libz1", "prog", "", "", "ff (snap)",
                                          "hello-2.12 (nix)"});
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
#endif
