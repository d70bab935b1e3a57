#include "io/output_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test_bytes.h"

namespace fs = std::filesystem;
using stackpack::ErrorCode;
using stackpack::io::OutputFile;
using stackpack::test::TestBytes;

namespace {

struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string pattern = (fs::temp_directory_path() / "stackpack-test-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { fs::remove_all(path); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
  fs::path path;
};

}  // namespace

TEST_CASE("output file: appears at commit, whole, and replaces what was there") {
  const TemporaryDirectory directory;
  const std::string target = directory.path / "out";
  for (const std::uint64_t round : {1U, 2U}) {
    auto out = OutputFile::create(target);
    REQUIRE(out.has_value());
    const TestBytes content = TestBytes().u64(round).zeros(1 << 20);
    CHECK((*out)->write(content.bytes).has_value());
    CHECK((*out)->offset() == content.bytes.size());
    CHECK(fs::exists(target) == (round == 2));
    CHECK((*out)->commit().has_value());
    CHECK(stackpack::test::read_test_file(target) == content.bytes);
    CHECK_FALSE((*out)->write(content.bytes).has_value());
  }
  CHECK(directory.entries() == 1);
}

TEST_CASE("output file: without commit nothing is left and the old file stays") {
  const TemporaryDirectory directory;
  const std::string target = directory.path / "out";
  {
    auto out = OutputFile::create(target);
    REQUIRE(out.has_value());
    CHECK((*out)->write(TestBytes().u64(1).bytes).has_value());
  }
  CHECK(directory.entries() == 0);
}

TEST_CASE("output file: a link stays, a FIFO is written to") {
  const TemporaryDirectory directory;
  const std::string target = directory.path / "target";
  const std::string link = directory.path / "link";
  fs::create_symlink(target, link);
  const auto write = [](const std::string& path, std::uint64_t value) {
    auto out = OutputFile::create(path);
    REQUIRE(out.has_value());
    CHECK((*out)->write(TestBytes().u64(value).bytes).has_value());
    CHECK((*out)->commit().has_value());
  };
  write(target, 1);
  write(link, 2);
  CHECK(fs::is_symlink(link));
  CHECK(stackpack::test::read_test_file(target) == TestBytes().u64(2).bytes);

  const std::string fifo = directory.path / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  // Open for both directions so that neither side waits for the other.
  const int reader = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(reader >= 0);
  write(fifo, 3);
  std::array<std::byte, 8> got{};
  CHECK(::read(reader, got.data(), got.size()) == 8);
  CHECK(got[0] == std::byte{3});
  ::close(reader);
  CHECK(fs::is_fifo(fifo));
  CHECK(directory.entries() == 3);

  auto full = OutputFile::create("/dev/full");
  REQUIRE(full.has_value());
  CHECK((*full)->write(TestBytes().u64(4).bytes).has_value());
  const stackpack::Status committed = (*full)->commit();
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().os_error == ENOSPC);
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("output file: errors of the system come with their number") {
  const auto missing = OutputFile::create("/nonexistent-directory/out");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == ErrorCode::kIo);
  CHECK(missing.error().os_error == ENOENT);
  const auto directory = OutputFile::create("/tmp");
  REQUIRE_FALSE(directory.has_value());
  CHECK(directory.error().os_error == EISDIR);
}

TEST_CASE("output file: names that others took are left alone") {
  const TemporaryDirectory folder;
  const std::string target = (folder.path / "out").string();
  const auto taken = [&](unsigned attempt) {
    return target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
  };
  std::ofstream(taken(0)) << "another's";
  auto out = OutputFile::create(target);
  REQUIRE(out.has_value());
  REQUIRE((*out)->write(TestBytes().u64(1).bytes).has_value());
  CHECK((*out)->commit().has_value());
  CHECK(fs::file_size(target) == 8);
  CHECK(fs::file_size(taken(0)) == 9);
  CHECK(folder.entries() == 2);

  for (unsigned attempt = 1; attempt < 100; ++attempt) {
    std::ofstream(taken(attempt)) << "another's";
  }
  out = OutputFile::create(target);
  REQUIRE(out.has_value());
  REQUIRE((*out)->write(TestBytes().u64(1).u64(2).bytes).has_value());
  const stackpack::Status unnamed = (*out)->commit();
  REQUIRE_FALSE(unnamed.has_value());
  CHECK(unnamed.error().os_error == EEXIST);
  out->reset();
  CHECK(fs::file_size(target) == 8);  // the old one
  CHECK(folder.entries() == 101);
}

TEST_CASE("output file: a place that goes away, or becomes a directory, is an error at commit") {
  {
    const TemporaryDirectory folder;
    fs::create_directory(folder.path / "place");
    const auto out = OutputFile::create((folder.path / "place" / "out").string());
    REQUIRE(out.has_value());
    REQUIRE((*out)->write(TestBytes().u64(1).bytes).has_value());
    fs::remove(folder.path / "place");
    const stackpack::Status committed = (*out)->commit();
    REQUIRE_FALSE(committed.has_value());
    CHECK(committed.error().code == ErrorCode::kIo);
    CHECK(committed.error().os_error == ENOENT);
    CHECK(folder.entries() == 0);
  }
  const TemporaryDirectory folder;
  const fs::path target = folder.path / "out";
  auto out = OutputFile::create(target.string());
  REQUIRE(out.has_value());
  fs::create_directory(target);
  const stackpack::Status committed = (*out)->commit();
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().os_error == EISDIR);
  out->reset();
  CHECK(folder.entries() == 1);  // the directory; the temporary name is gone
}

TEST_CASE("output file: after the commit, or an error, nothing is written any more") {
  const TemporaryDirectory folder;
  const std::string target = (folder.path / "out").string();
  const auto out = OutputFile::create(target);
  REQUIRE(out.has_value());
  REQUIRE((*out)->write(TestBytes().u64(1).bytes).has_value());
  REQUIRE((*out)->commit().has_value());
  const stackpack::Status late = (*out)->write(TestBytes().u64(2).bytes);
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().code == ErrorCode::kUsage);
  CHECK((*out)->commit().error().code == ErrorCode::kUsage);
  CHECK(fs::file_size(target) == 8);

  const auto full = OutputFile::create("/dev/full");
  REQUIRE(full.has_value());
  const stackpack::Status written = (*full)->write(TestBytes().zeros(1 << 20).bytes);
  REQUIRE_FALSE(written.has_value());  // more than is held back
  CHECK(written.error().os_error == ENOSPC);
  CHECK((*full)->write(TestBytes().u64(1).bytes).error().os_error == ENOSPC);
  CHECK((*full)->commit().error().os_error == ENOSPC);
}

TEST_CASE("output file: the directory of a path") {
  CHECK(stackpack::io::directory_of("a/b/c") == "a/b");
  CHECK(stackpack::io::directory_of("/c") == "/");
  CHECK(stackpack::io::directory_of("c") == ".");
}
