#include "io/output_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/directories.h"
#include "io/files_read.h"
#include "io/temporary_name.h"
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

// Is asked at every fsync, in its place, while there is one. Returns the error, or 0.
std::function<int(int)> asked_at_sync;

}  // namespace

// The definition of the program comes before that of the C library.
extern "C" int fsync(int descriptor) {
  if (!asked_at_sync) {
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
  }
  errno = asked_at_sync(descriptor);
  return errno == 0 ? 0 : -1;
}

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

TEST_CASE("output file: content is synced before it has its name, and the name after") {
  struct SyncCase {
    const char* name;
    int file_error;
    int directory_error;
    bool committed;
    bool named;
  };
  for (const SyncCase& c :
       {SyncCase{"both", 0, 0, true, true}, SyncCase{"not the file", EIO, 0, false, false},
        SyncCase{"not the directory", 0, EIO, false, true},
        SyncCase{"directories cannot be synced", 0, EINVAL, true, true}}) {
    CAPTURE(c.name);
    const TemporaryDirectory directory;
    const fs::path target = directory.path / "out";
    auto out = OutputFile::create(target);
    REQUIRE(out.has_value());
    CHECK((*out)->write(TestBytes().u64(7).bytes).has_value());
    std::vector<bool> synced;  // whether it was a directory
    asked_at_sync = [&](int descriptor) {
      struct stat status {};
      CHECK(::fstat(descriptor, &status) == 0);
      synced.push_back(S_ISDIR(status.st_mode));
      CHECK(fs::exists(target) == synced.back());
      CHECK((synced.back() || status.st_size == 8));
      return synced.back() ? c.directory_error : c.file_error;
    };
    const auto committed = (*out)->commit();
    asked_at_sync = nullptr;
    CHECK(committed.has_value() == c.committed);
    CHECK((committed.has_value() || committed.error().code == ErrorCode::kIo));
    CHECK(synced == (c.file_error != 0 ? std::vector{false} : std::vector{false, true}));
    CHECK(fs::exists(target) == c.named);
  }
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
    return stackpack::io::temporary_name(target, static_cast<std::uint64_t>(::getpid()), attempt);
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

namespace {

bool begins_with_a(std::span<const std::byte> head) {
  return !head.empty() && head.front() == std::byte{'a'};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

::mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

ErrorCode refusal(const std::string& path, const stackpack::io::OutputRules& rules) {
  const auto out = OutputFile::create(path, rules);
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().part == stackpack::kOutputPart);
  return out.error().code;
}

}  // namespace

TEST_CASE("output rules: an input is never an output, under whatever name and with force") {
  const TemporaryDirectory folder;
  const std::string input = (folder.path / "input").string();
  const std::string link = (folder.path / "link").string();
  const std::string hard = (folder.path / "hard").string();
  write_text(input, "a capture");
  fs::create_symlink(input, link);
  fs::create_hard_link(input, hard);
  stackpack::io::OutputRules rules;
  rules.replaceable = begins_with_a;
  REQUIRE(stackpack::io::add_inputs(rules, std::vector<std::string>{input}));
  for (const bool force : {true, false}) {
    rules.force = force;
    for (const std::string& output : {input, link, hard, (folder.path / "." / "input").string()}) {
      CAPTURE(output);
      CHECK(refusal(output, rules) == ErrorCode::kUsage);
      CHECK(fs::file_size(input) == 9);
    }
    CHECK(stackpack::io::check_output((folder.path / "new").string(), rules));
  }
  // The files of a directory are inputs, too.
  stackpack::io::OutputRules of_folder;
  REQUIRE(stackpack::io::add_inputs(of_folder, std::vector<std::string>{folder.path.string()}));
  CHECK(refusal(link, of_folder) == ErrorCode::kUsage);
}

TEST_CASE("output rules: without force only an empty file or one of the right kind is replaced") {
  const TemporaryDirectory folder;
  const std::string target = (folder.path / "out").string();
  stackpack::io::OutputRules rules;
  rules.force = false;
  rules.replaceable = begins_with_a;
  write_text(target, "b");
  CHECK(refusal(target, rules) == ErrorCode::kUsage);
  write_text(target, "");
  CHECK(OutputFile::create(target, rules).has_value());
  write_text(target, "a");
  CHECK(OutputFile::create(target, rules).has_value());
  rules.replaceable = nullptr;
  CHECK(refusal(target, rules) == ErrorCode::kUsage);
  rules.force = true;
  CHECK(OutputFile::create(target, rules).has_value());
}

TEST_CASE("output rules: a file that comes to the place while the output is written stays") {
  const TemporaryDirectory folder;
  const std::string target = (folder.path / "out").string();
  stackpack::io::OutputRules rules;
  rules.force = false;
  auto out = OutputFile::create(target, rules);
  REQUIRE(out.has_value());
  REQUIRE((*out)->write(TestBytes().u64(1).bytes).has_value());
  write_text(target, "somebody's");
  const stackpack::Status committed = (*out)->commit();
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().code == ErrorCode::kUsage);
  out->reset();
  CHECK(fs::file_size(target) == 10);
  CHECK(folder.entries() == 1);
}

TEST_CASE("output rules: permissions are those of the inputs, or of the file that is replaced") {
  const TemporaryDirectory folder;
  const ::mode_t before = ::umask(022);
  const std::string input = (folder.path / "input").string();
  const std::string target = (folder.path / "out").string();
  const auto written_mode = [&](::mode_t input_mode) {
    write_text(input, "a");
    REQUIRE(::chmod(input.c_str(), input_mode) == 0);
    stackpack::io::OutputRules rules;
    REQUIRE(stackpack::io::add_inputs(rules, std::vector<std::string>{input}));
    auto out = OutputFile::create(target, rules);
    REQUIRE(out.has_value());
    REQUIRE((*out)->commit().has_value());
    return mode_of(target);
  };
  CHECK(written_mode(0600) == 0600);
  REQUIRE(::chmod(target.c_str(), 0640) == 0);
  CHECK(written_mode(0644) == 0640);  // kept
  fs::remove(target);
  CHECK(written_mode(0755) == 0644);
  fs::remove(target);
  CHECK(written_mode(0666) == 0644);  // the umask
  ::umask(before);
}

TEST_CASE("output rules: a directory of outputs is empty, new, or forced") {
  const TemporaryDirectory folder;
  stackpack::io::OutputRules rules;
  rules.force = false;
  CHECK(stackpack::io::check_output_directory(folder.path.string(), rules));
  CHECK(stackpack::io::check_output_directory((folder.path / "new").string(), rules));
  write_text((folder.path / "mine").string(), "a");
  CHECK(stackpack::io::check_output_directory(folder.path.string(), rules).error().code ==
        ErrorCode::kUsage);
  rules.force = true;
  CHECK(stackpack::io::check_output_directory(folder.path.string(), rules));
}

TEST_CASE("output file: names as long as the file system allows") {
  const TemporaryDirectory folder;
  for (const std::size_t size : {236U, 237U, 244U, 245U, 254U, 255U}) {
    for (const std::string& letter : {std::string("x"), std::string("\xc3\xa9")}) {
      CAPTURE(size);
      std::string name;
      while (name.size() + letter.size() <= size) {
        name += letter;
      }
      const std::string target = (folder.path / name).string();
      for (int round = 0; round < 2; ++round) {  // the second one replaces the first
        auto out = OutputFile::create(target);
        REQUIRE(out.has_value());
        REQUIRE((*out)->write(TestBytes().u64(1).bytes).has_value());
        CHECK((*out)->commit().has_value());
      }
      CHECK(fs::file_size(target) == 8);
      CHECK(folder.entries() == 1);
      // What a killed run leaves of it goes.
      const std::string dead = stackpack::io::temporary_name(target, 4'194'305, 0);
      CHECK(fs::path(dead).filename().string().size() <= 255);
      write_text(dead, "a");
      stackpack::io::remove_leftovers(std::vector<std::string>{target});
      CHECK_FALSE(fs::exists(dead));
      fs::remove(target);
    }
  }
  CHECK_FALSE(OutputFile::create((folder.path / std::string(256, 'x')).string()).has_value());
}

TEST_CASE("leftovers: a temporary name of a process that lives, or that is locked, stays") {
  const TemporaryDirectory folder;
  const std::string target = (folder.path / "out").string();
  constexpr long kNoProcess = 4'194'305;  // beyond the largest id of Linux
  using stackpack::io::temporary_name;
  const std::string mine = temporary_name(target, static_cast<std::uint64_t>(::getpid()), 7);
  const std::string locked = temporary_name(target, kNoProcess, 1);
  const std::string dead = temporary_name(target, kNoProcess, 0);
  // Of others: no mark, that of another name, and something after it.
  const std::vector<std::string> others = {
      target + ".tmp-99999-0", target + ".tmp-" + std::to_string(kNoProcess) + "-0",
      target + ".tmp-" + std::to_string(kNoProcess) + "-2" + dead.substr(dead.rfind('-')),
      dead + ".kept"};
  for (const std::string& name : {mine, locked, dead}) {
    write_text(name, "a");
  }
  for (const std::string& name : others) {
    write_text(name, "a");
  }
  const int holder = ::open(locked.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(holder, LOCK_EX | LOCK_NB) == 0);
  stackpack::io::remove_leftovers(std::vector<std::string>{target});
  CHECK(fs::exists(mine));
  CHECK(fs::exists(locked));
  CHECK_FALSE(fs::exists(dead));
  for (const std::string& name : others) {
    CAPTURE(name);
    CHECK(fs::exists(name));
  }
  ::close(holder);

  // What is read stays, whatever its name.
  write_text(dead, "a");
  const stackpack::io::FilesRead files_read;
  stackpack::io::FilesRead::note_inputs(std::vector<std::string>{dead});
  stackpack::io::remove_leftovers(std::vector<std::string>{target});
  CHECK(fs::exists(dead));
}
