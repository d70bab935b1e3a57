#include "io/files_read.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "io/output_file.h"
#include "io/scratch_directory.h"
#include "io/system_file.h"
#include "support/temporary_folder.h"

namespace stackpack::test {

namespace {

std::string made_file(const ScratchDirectory& folder, const std::string& name) {
  std::ofstream(folder.file(name)) << "content";
  return folder.file(name);
}

bool may_be_written(const std::string& path) {
  return io::check_output(path, io::OutputRules()).has_value();
}

}  // namespace

TEST_CASE("files read: whatever opens or reads a file keeps the run's outputs off it") {
  const ScratchDirectory folder;
  const std::string path = made_file(folder, "a");
  const auto before = io::open_source(path);
  REQUIRE(before.has_value());
  for (int way = 0; way < 4; ++way) {
    CAPTURE(way);
    const io::FilesRead run;
    CHECK(may_be_written(path));
    std::byte byte{};
    switch (way) {
      case 0:
        CHECK(io::open_source(path).has_value());
        break;
      case 1:
        CHECK(io::open_regular_file(path).has_value());
        break;
      case 2:
        CHECK(io::open_rooted_file("", path).has_value());
        break;
      default:
        CHECK((*before)->read_at(0, {&byte, 1}).has_value());
    }
    CHECK_FALSE(may_be_written(path));
    CHECK(io::check_output(path, io::OutputRules()).error().code == ErrorCode::kUsage);
  }
  CHECK(may_be_written(path));
}

// The file system may give its identity to the next file at once.
TEST_CASE("files read: a file of our own is forgotten when it is removed") {
  const ScratchDirectory folder;
  const std::string other = folder.file("link");
  const io::FilesRead run;
  {
    const auto scratch = io::ScratchDirectory::create();
    REQUIRE(scratch.has_value());
    std::ofstream((*scratch)->file()) << "content";
    CHECK(io::open_source((*scratch)->file()).has_value());
    CHECK_FALSE(may_be_written((*scratch)->file()));
    std::filesystem::create_hard_link((*scratch)->file(), other);
    CHECK_FALSE(may_be_written(other));
  }
  CHECK(may_be_written(other));
}

TEST_CASE("files read: a run knows what the runs inside it have read, and the other way round") {
  const ScratchDirectory folder;
  const std::string first = made_file(folder, "a");
  const std::string second = made_file(folder, "b");
  const io::FilesRead outer;
  CHECK(io::open_source(first).has_value());
  {
    const io::FilesRead inner;
    CHECK(io::open_source(second).has_value());
    CHECK_FALSE(may_be_written(first));
  }
  CHECK_FALSE(may_be_written(second));
}

TEST_CASE("files read: threads have runs of their own, unless they join one") {
  const ScratchDirectory folder;
  const std::string joined = made_file(folder, "a");
  const std::string apart = made_file(folder, "b");
  const std::string looked_at = made_file(folder, "c");
  io::FilesRead run;
  std::thread([&] {
    const io::FilesRead::Joined work(&run);
    CHECK(io::open_source(joined).has_value());
  }).join();
  std::thread([&] { CHECK(io::open_source(apart).has_value()); }).join();
  {
    const io::FilesRead::LookOnly look;
    CHECK(io::open_source(looked_at).has_value());
  }
  CHECK_FALSE(may_be_written(joined));
  CHECK(may_be_written(apart));
  CHECK(may_be_written(looked_at));
}

TEST_CASE("files read: an output that is read while it is written does not take its place") {
  const ScratchDirectory folder;
  const std::string path = made_file(folder, "a");
  const io::FilesRead run;
  const auto out = io::OutputFile::create(path);
  REQUIRE(out.has_value());
  CHECK(io::open_source(path).has_value());
  CHECK((*out)->commit().error().code == ErrorCode::kUsage);
}

}  // namespace stackpack::test
