#include "io/confined_process.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/temporary_folder.h"

// Under a sanitizer the address space has no limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACKPACK_TEST_UNLIMITED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STACKPACK_TEST_UNLIMITED 1
#endif
#endif

namespace stackpack::io {

namespace {

using ProcessBytes = ConfinedProcess::Bytes;

struct EndOfWork {
  ProcessEnd end = ProcessEnd::kFailed;
  std::string answer;
};

EndOfWork run_work(const ConfinedProcess::Work& work, const ProcessLimits& limits = {},
                   std::vector<int> files = {}) {
  Result<ConfinedProcess> process = ConfinedProcess::start(files, limits, work);
  REQUIRE(process.has_value());
  while (!process->proceed()) {
    ConfinedProcess* const one = &*process;
    ConfinedProcess::wait_for_any({&one, 1}, 20);
  }
  EndOfWork result{process->end(), {}};
  for (const std::byte byte : process->answer()) {
    result.answer += static_cast<char>(byte);
  }
  return result;
}

ProcessBytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("confined process: gives its answer, however long") {
  const EndOfWork short_one = run_work([] { return bytes_of("hello"); });
  CHECK(short_one.end == ProcessEnd::kDone);
  CHECK(short_one.answer == "hello");
  const EndOfWork long_one = run_work([] { return ProcessBytes(3'000'000, std::byte{'x'}); });
  CHECK(long_one.end == ProcessEnd::kDone);
  CHECK(long_one.answer.size() == 3'000'000);
}

TEST_CASE("confined process: its errors, crashes and hangs are told apart") {
  CHECK(run_work([]() -> Result<ProcessBytes> {
          return Error{ErrorCode::kCorrupt, kNoOffset, "no"};
        }).end == ProcessEnd::kFailed);
  CHECK(run_work([]() -> Result<ProcessBytes> {
          ::raise(SIGSEGV);
          return ProcessBytes();
        }).end == ProcessEnd::kCrashed);
  ProcessLimits hasty;
  hasty.wall_seconds = 1;
  CHECK(run_work(
            []() -> Result<ProcessBytes> {
              while (true) {
                ::sleep(1);
              }
            },
            hasty)
            .end == ProcessEnd::kOutOfTime);
  ProcessLimits brief;
  brief.answer_bytes = 1000;
  CHECK(run_work([] { return ProcessBytes(1 << 20); }, brief).end == ProcessEnd::kAnswerTooLong);
}

#ifndef STACKPACK_TEST_UNLIMITED
TEST_CASE("confined process: memory and processor time end") {
  ProcessLimits limits;
  limits.memory_bytes = std::uint64_t{64} << 20;
  limits.cpu_seconds = 1;
  CHECK(
      run_work(
          []() -> Result<ProcessBytes> { return ProcessBytes(std::size_t{1} << 28, std::byte{1}); },
          limits)
          .end == ProcessEnd::kOutOfMemory);
  CHECK(run_work(
            []() -> Result<ProcessBytes> {
              std::atomic<unsigned> rounds{0};
              while (true) {
                ++rounds;
              }
            },
            limits)
            .end == ProcessEnd::kOutOfTime);
}
#endif

TEST_CASE("confined process: has the files that it was given, opens none, connects to nothing") {
  const test::ScratchDirectory folder;
  const std::string path = folder.file("kept");
  const int kept = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  const int other = ::open(path.c_str(), O_RDWR);
  REQUIRE(kept >= 0);
  REQUIRE(::write(kept, "abc", 3) == 3);
  const EndOfWork result = run_work(
      [&]() -> Result<ProcessBytes> {
        std::string text;
        std::array<char, 4> content{};
        text += ::pread(kept, content.data(), 3, 0) == 3 ? 'r' : '-';
        text += ::pread(other, content.data(), 3, 0) == 3 ? 'o' : '-';
        text += ::open("/etc/passwd", O_RDONLY) >= 0 ? 'p' : '-';
        text += ::open(path.c_str(), O_WRONLY) >= 0 ? 'w' : '-';
        text += ::socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 's' : '-';
        text += ::write(kept, "xyz", 3) == 3 ? 'W' : '-';
        return bytes_of(text);
      },
      {}, {kept});
  ::close(kept);
  ::close(other);
  CHECK(result.end == ProcessEnd::kDone);
  CHECK(result.answer == "r-----");
}

}  // namespace stackpack::io
