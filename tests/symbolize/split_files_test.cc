#include "symbolize/split_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace stackpack::test {

using symbolize::open_split_file;
using symbolize::SplitFolders;

namespace {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("split files: what a reader may have of the files that debug information names") {
  const ScratchDirectory folder;
  for (const char* const name : {"build", "build/obj", "other"}) {
    std::filesystem::create_directory(folder.file(name));
  }
  const std::string head =
      "\x7f"
      "ELF and the rest";
  for (const char* const name : {"build/a.dwo", "build/obj/b.dwo", "other/c.dwo", "build/a.o"}) {
    write_text(folder.file(name), head);
  }
  write_text(folder.file("build/text.dwo"), "root:x:0:0");
  write_text(folder.file("build/short.dwo"),
             "\x7f"
             "EL");
  std::filesystem::create_symlink(folder.file("build/text.dwo"), folder.file("build/link.dwo"));
  std::filesystem::create_directory(folder.file("build/folder.dwo"));
  REQUIRE(::mkfifo(folder.file("build/fifo.dwo").c_str(), 0600) == 0);
  const SplitFolders below{{folder.file("build")}, false};
  const SplitFolders anywhere{{folder.file("build")}, true};
  struct Case {
    std::string path;
    bool below;
    bool anywhere;
  };
  const Case cases[] = {
      {"build/a.dwo", true, true},        {"build/obj/b.dwo", true, true},
      {"other/c.dwo", false, true},       {"build/../other/c.dwo", false, true},
      {"build/a.o", false, false},        {"build/text.dwo", false, false},
      {"build/link.dwo", false, false},   {"build/short.dwo", false, false},
      {"build/folder.dwo", false, false}, {"build/fifo.dwo", false, false},
      {"build/none.dwo", false, false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.path);
    const std::string path = folder.file(one.path);
    CHECK(static_cast<bool>(open_split_file(path, below)) == one.below);
    CHECK(static_cast<bool>(open_split_file(path, anywhere)) == one.anywhere);
  }
  // A folder's name is not the beginning of another one's; no folder is no place.
  std::filesystem::create_directory(folder.file("buildings"));
  write_text(folder.file("buildings/d.dwo"), head);
  CHECK_FALSE(open_split_file(folder.file("buildings/d.dwo"), below));
  CHECK_FALSE(open_split_file(folder.file("build/a.dwo"), {{""}, false}));
  CHECK_FALSE(open_split_file("/etc/passwd", anywhere));
}

TEST_CASE("split files: the folder of an open file") {
  const ScratchDirectory folder;
  write_text(folder.file("file"), "x");
  const io::Descriptor file(::open(folder.file("file").c_str(), O_RDONLY));
  const std::string own = symbolize::folder_of_file(file.get());
  CHECK(std::filesystem::equivalent(own + "/file", folder.file("file")));
  CHECK(symbolize::folder_of_file(-1).empty());
}

}  // namespace stackpack::test
