#include "io/byte_source.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/failing_source.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::FailingSource;
using test::ScratchDirectory;
using test::TestBytes;

namespace {

std::string text_of(const std::vector<std::byte>& bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text.push_back(static_cast<char>(bytes[i]));
  }
  return text;
}

std::string file_of(const ScratchDirectory& folder, const char* name, const std::string& content) {
  std::ofstream(folder.file(name), std::ios::binary) << content;
  return folder.file(name);
}

}  // namespace

TEST_CASE("byte source: a file is read from its start or at an offset, to its end") {
  const ScratchDirectory folder;
  const auto source = io::open_source(file_of(folder, "digits", "0123456789"));
  REQUIRE(source.has_value());
  CHECK((*source)->seekable());
  CHECK((*source)->size() == 10);
  std::vector<std::byte> into(6);
  CHECK((*source)->read(into).value() == 6);
  CHECK((*source)->read_at(1, into).value() == 6);
  CHECK(text_of(into, 6) == "123456");
  CHECK((*source)->read(into).value() == 4);  // goes on where it was
  CHECK(text_of(into, 4) == "6789");
  CHECK((*source)->read(into).value() == 0);
  CHECK((*source)->read_at(10, into).value() == 0);
  CHECK((*source)->read_at(~std::uint64_t{0} >> 2, into).value() == 0);
}

TEST_CASE("byte source: what cannot be opened says why") {
  const ScratchDirectory folder;
  const std::string file = file_of(folder, "file", "x");
  for (const auto& open : {io::open_source, io::open_regular_file}) {
    const auto missing = open(folder.file("nothing"));
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == ErrorCode::kNotFound);
    CHECK(missing.error().os_error == ENOENT);
    const auto below_a_file = open(file + "/x");
    REQUIRE_FALSE(below_a_file.has_value());
    CHECK(below_a_file.error().code == ErrorCode::kNotFound);
    const auto directory = open(folder.file(""));
    REQUIRE_FALSE(directory.has_value());
    CHECK(directory.error().code == ErrorCode::kUnsupported);
    std::filesystem::create_symlink("loop", folder.file("loop"));
    const auto loop = open(folder.file("loop"));
    std::filesystem::remove(folder.file("loop"));
    REQUIRE_FALSE(loop.has_value());
    CHECK(loop.error().code == ErrorCode::kIo);
    CHECK(loop.error().os_error == ELOOP);
    CHECK(open(file).has_value());
  }
}

TEST_CASE("byte source: a device is a stream for who names it, and no file for who finds it") {
  const auto named = io::open_source("/dev/null");
  REQUIRE(named.has_value());
  CHECK_FALSE((*named)->seekable());
  CHECK_FALSE((*named)->size().has_value());
  std::vector<std::byte> into(1);
  CHECK((*named)->read(into).value() == 0);
  const auto found = io::open_regular_file("/dev/null");
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().code == ErrorCode::kUnsupported);
}

TEST_CASE("byte source: a pipe has no offsets; a descriptor that cannot be read is an I/O error") {
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "abc", 3) == 3);
  const auto pipe = io::source_of_descriptor(ends[0]);
  std::vector<std::byte> into(8);
  CHECK_FALSE(pipe->seekable());
  const auto at = pipe->read_at(7, into);
  REQUIRE_FALSE(at.has_value());
  CHECK(at.error().code == ErrorCode::kUnsupported);
  CHECK(at.error().offset == 7);
  CHECK(pipe->read(into).value() == 3);
  CHECK(text_of(into, 3) == "abc");
  const auto wrong_end = io::source_of_descriptor(ends[1]);
  const auto unreadable = wrong_end->read(into);
  REQUIRE_FALSE(unreadable.has_value());
  CHECK(unreadable.error().code == ErrorCode::kIo);
  CHECK(unreadable.error().os_error == EBADF);
  ::close(ends[1]);
  CHECK(pipe->read(into).value() == 0);
  ::close(ends[0]);

  const ScratchDirectory folder;
  const int written = ::open(file_of(folder, "f", "xyz").c_str(), O_WRONLY | O_CLOEXEC);
  const auto file = io::source_of_descriptor(written);
  CHECK(file->seekable());
  CHECK(file->read(into).error().os_error == EBADF);
  CHECK(file->read_at(0, into).error().code == ErrorCode::kIo);
  ::close(written);
}

TEST_CASE("byte source: a descriptor that is not at its start is a stream of the rest") {
  const ScratchDirectory folder;
  const int descriptor = ::open(file_of(folder, "f", "0123456789").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::lseek(descriptor, 4, SEEK_SET) == 4);
  const auto source = io::source_of_descriptor(descriptor);
  CHECK_FALSE(source->seekable());
  std::vector<std::byte> into(10);
  CHECK(source->read(into).value() == 6);
  CHECK(text_of(into, 6) == "456789");
  ::close(descriptor);
}

TEST_CASE("byte source: a head that was read comes again, before the rest") {
  const auto rest = TestBytes().text("rest").bytes;
  const auto source =
      io::source_with_head(TestBytes().text("head ").bytes, io::source_of_memory(rest));
  CHECK_FALSE(source->seekable());
  CHECK_FALSE(source->size().has_value());
  std::vector<std::byte> into(3);
  CHECK(source->read_at(0, into).error().code == ErrorCode::kUnsupported);
  std::string all;
  for (std::size_t count = 1; count != 0;) {
    const auto got = source->read(into);
    REQUIRE(got.has_value());
    count = *got;
    all += text_of(into, count);
  }
  CHECK(all == "head rest");
}

TEST_CASE("byte source: reading exactly so many bytes, or an error that says where they end") {
  const auto bytes = TestBytes().text("0123456789").bytes;
  const auto source = io::source_of_memory(bytes);
  std::vector<std::byte> into(4);
  CHECK(io::read_exactly_at(*source, 6, into, "four").has_value());
  CHECK(text_of(into, 4) == "6789");
  const Status cut = io::read_exactly_at(*source, 7, into, "four");
  REQUIRE_FALSE(cut.has_value());
  CHECK(cut.error().code == ErrorCode::kTruncated);
  CHECK(cut.error().offset == 10);
  CHECK(cut.error().what == "four");
  FailingSource failing(bytes, 0);
  CHECK(io::read_exactly_at(failing, 0, into, "four").error().os_error == EIO);
  std::vector<std::byte> none;
  CHECK(io::read_exactly_at(*source, 99, none, "none").has_value());
}

TEST_CASE("byte source: spooling passes errors on, and says when there is no place for it") {
  const auto bytes = TestBytes().zeros(5000).bytes;
  FailingSource failing(bytes, 2, /*seekable=*/false, 1000);
  const auto spooled = io::spool_to_temporary(failing, "/tmp", 1 << 20);
  REQUIRE_FALSE(spooled.has_value());
  CHECK(spooled.error().os_error == EIO);
  FailingSource good(bytes, FailingSource::kNever, /*seekable=*/false, 1000);
  const auto nowhere = io::spool_to_temporary(good, "/nonexistent-directory", 1 << 20);
  REQUIRE_FALSE(nowhere.has_value());
  CHECK(nowhere.error().code == ErrorCode::kIo);
  CHECK(nowhere.error().os_error == ENOENT);
  CHECK(good.reads() == 0);
}
