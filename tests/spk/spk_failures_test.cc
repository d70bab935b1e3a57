// Files that cannot be read, or become shorter while they are open.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "spk/read/file_opener.h"
#include "support/failing_source.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

SpkContent content_of_all_tables() {
  SpkContent content = random_content(5, 300, 2000);
  content.tables.processes = {{7, 1, 5, kUnknownTime, true, "name", "command line"}};
  content.tables.metadata = {{"key", "value"}};
  return content;
}

// Every way into a file, and what became of each: an empty text is success.
std::vector<std::string> read_all(const Reader& reader, const SpkContent& content) {
  std::vector<std::string> failures;
  const auto stacks = stacks_in(reader);
  CHECK((!stacks || *stacks == list_of(content.stacks)));
  failures.emplace_back(stacks ? "" : "stacks");
  const auto samples = samples_in(reader);
  CHECK((!samples || *samples == content.samples));
  failures.emplace_back(samples ? "" : "samples");
  failures.push_back(failure(reader.events()));
  failures.push_back(failure(reader.processes()));
  failures.push_back(failure(reader.threads()));
  failures.push_back(failure(reader.modules()));
  failures.push_back(failure(reader.metadata()));
  return failures;
}

TEST_SUITE("spk failures") {
  TEST_CASE("spk failures: an error of any read while a file is opened is that error") {
    const auto file = spk_bytes(content_of_all_tables());
    bool ended = false;
    for (std::uint64_t fail_at = 0; !ended; ++fail_at) {
      REQUIRE(fail_at < 100);
      CAPTURE(fail_at);
      spk::BlockReader blocks(std::make_unique<FailingSource>(file, fail_at));
      spk::OpenedFile opened;
      const Status status = spk::open_file(blocks, opened);
      ended = status.has_value();
      if (!ended) {
        CHECK(status.error().code == ErrorCode::kIo);
        CHECK(status.error().os_error == EIO);
      } else {
        CHECK(fail_at >= 2);  // the start of the file and its end
        CHECK(opened.file_bytes == file.size());
      }
    }
  }

  TEST_CASE("spk failures: a stream is no file") {
    const auto file = spk_bytes(content_of_all_tables());
    spk::BlockReader blocks(
        std::make_unique<FailingSource>(file, FailingSource::kNever, /*seekable=*/false));
    spk::OpenedFile opened;
    const Status status = spk::open_file(blocks, opened);
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code == ErrorCode::kUnsupported);
  }

  TEST_CASE("spk failures: a file that is cut while it is open gives errors, never other data") {
    const SpkContent content = content_of_all_tables();
    const auto file = spk_bytes(content);
    const ScratchDirectory folder;
    const std::string path = folder.file("cut.spk");
    std::size_t failed_at_all = 0;
    for (std::size_t size = 0; size <= file.size(); size += 97) {
      CAPTURE(size);
      std::ofstream(path, std::ios::binary)
          .write(static_cast<const char*>(static_cast<const void*>(file.data())),
                 static_cast<std::streamsize>(file.size()));
      const auto reader = Reader::open(path, {});
      REQUIRE(reader.has_value());
      std::filesystem::resize_file(path, size);
      // Directory and trailer are in memory since the file was opened.
      const auto& sections = (*reader)->sections();
      const std::uint64_t blocks_end =
          file.size() - sections.back().stored_bytes - sections[sections.size() - 2].stored_bytes;
      const Status verified = (*reader)->verify();
      CHECK(verified.has_value() == (size >= blocks_end));
      if (!verified) {
        CHECK(verified.error().code == ErrorCode::kTruncated);
      }
      for (const std::string& what : read_all(**reader, content)) {
        failed_at_all += what.empty() ? 0U : 1U;
      }
    }
    CHECK(failed_at_all > 0);
  }

  TEST_CASE("spk failures: a descriptor that cannot be read") {
    const int descriptor = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    CHECK_FALSE(Reader::open_descriptor(descriptor).has_value());
    ::close(descriptor);
    const ScratchDirectory folder;
    const std::string path = folder.file("written.spk");
    const int written = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(written >= 0);
    REQUIRE(::ftruncate(written, 1000) == 0);
    const auto reader = Reader::open_descriptor(written);
    ::close(written);
    REQUIRE_FALSE(reader.has_value());
    CHECK(reader.error().code == ErrorCode::kIo);
    CHECK(reader.error().os_error == EBADF);
  }
}

}  // namespace
}  // namespace stackpack::test
