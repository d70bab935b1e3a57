#include "app/listing/source_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

TEST_SUITE("source files") {
  TEST_CASE("source files: by the longest end of the path, each line without its end") {
    const ScratchDirectory folder;
    std::filesystem::create_directories(folder.file("src/deep"));
    std::ofstream(folder.file("src/deep/a.c"), std::ios::binary) << "one\r\ntwo\n\nfour";
    std::ofstream(folder.file("a.c")) << "another\n";
    std::ofstream(folder.file("b.c")) << "b\n";
    app::SourceFiles files({folder.file("none"), folder.file(".")});
    const std::vector<std::string>* const lines = files.lines_of("/build/x/src/deep/a.c");
    REQUIRE(lines != nullptr);
    CHECK(*lines == std::vector<std::string>{"one", "two", "", "four"});
    CHECK(files.lines_of("/build/x/src/deep/a.c") == lines);
    const auto* const back = files.lines_of("C:\\work\\b.c");
    REQUIRE(back != nullptr);
    CHECK(*back == std::vector<std::string>{"b"});
    CHECK(files.lines_of(folder.file("a.c"))->front() == "another");
    CHECK(files.lines_of("c.c") == nullptr);
    CHECK(files.lines_of("src") == nullptr);
    CHECK(files.lines_of("") == nullptr);
    CHECK(files.lines_of("///") == nullptr);
  }

  TEST_CASE("source files: a folder's parents are not looked into") {
    const ScratchDirectory folder;
    std::filesystem::create_directories(folder.file("in/x"));
    std::ofstream(folder.file("out.c")) << "out\n";
    app::SourceFiles files({folder.file("in")});
    CHECK(files.lines_of("../out.c") == nullptr);
    CHECK(files.lines_of("x/../../out.c") == nullptr);
  }

#ifndef _WIN32
  TEST_CASE("source files: nothing leads out of the root of the recorded machine") {
    const ScratchDirectory folder;
    std::filesystem::create_directories(folder.file("root/src"));
    std::ofstream(folder.file("root/src/a.c")) << "below the root\n";
    std::ofstream(folder.file("out.c")) << "out\n";
    std::filesystem::create_symlink(folder.file("out.c"), folder.file("root/src/link.c"));
    std::filesystem::create_symlink("/src/a.c", folder.file("root/src/same.c"));
    app::SourceFiles files({}, folder.file("root"));
    const std::vector<std::string>* const lines = files.lines_of("/src/a.c");
    REQUIRE(lines != nullptr);
    CHECK(lines->front() == "below the root");
    CHECK(files.lines_of(folder.file("out.c")) == nullptr);
    CHECK(files.lines_of("/../out.c") == nullptr);
    CHECK(files.lines_of("/src/link.c") == nullptr);
    CHECK(files.lines_of("/src/same.c") != nullptr);
  }
#endif
}

}  // namespace
}  // namespace stackpack::test
