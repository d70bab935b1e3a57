#include "io/confined_process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
                   std::vector<int> files = {}, OpenFile open = {}) {
  Result<ConfinedProcess> process = ConfinedProcess::start(files, limits, work, std::move(open));
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

TEST_CASE("confined process: one that somebody else kills did not take too long") {
  for (const int number : {SIGKILL, SIGTERM, SIGHUP}) {
    CAPTURE(number);
    // Whoever runs the tests may ignore it, and a child ignores what its parent does.
    if (number != SIGKILL) {
      ::signal(number, SIG_DFL);
    }
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const std::array<int, 1> kept{ends[1]};
    Result<ConfinedProcess> process =
        ConfinedProcess::start(kept, {}, [&]() -> Result<ProcessBytes> {
          const pid_t self = ::getpid();
          static_cast<void>(::write(ends[1], &self, sizeof self));
          while (true) {
            ::sched_yield();
          }
        });
    REQUIRE(process.has_value());
    pid_t child = -1;
    REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
    ::kill(child, number);
    while (!process->proceed()) {
      ConfinedProcess* const one = &*process;
      ConfinedProcess::wait_for_any({&one, 1}, 20);
    }
    CHECK(process->end() == ProcessEnd::kKilled);
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

#ifndef STACKPACK_TEST_UNLIMITED
TEST_CASE("confined process: signals nobody else, limits nobody, not even itself anew") {
  ::signal(SIGCHLD, SIG_DFL);  // where it is ignored there is nobody to wait for
  const pid_t parent = ::getpid();
  const pid_t other = ::fork();
  if (other == 0) {
    while (true) {
      ::pause();
    }
  }
  REQUIRE(other > 0);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const EndOfWork result = run_work([&]() -> Result<ProcessBytes> {
    std::string text;
    const auto say = [&text](char name, long given) { text += given == 0 ? name : '-'; };
    const rlimit64 lower{4096, 4096};
    say('o', ::syscall(SYS_tgkill, other, other, SIGKILL));
    say('k', ::syscall(SYS_kill, other, SIGKILL));
    say('q', ::syscall(SYS_tkill, other, SIGKILL));
    say('p', ::syscall(SYS_prlimit64, parent, RLIMIT_FSIZE, &lower, nullptr));
    say('f', ::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &lower, nullptr));
    rlimit64 read{};
    say('r', ::syscall(SYS_prlimit64, parent, RLIMIT_FSIZE, nullptr, &read));
    // The kernel would signal whoever owns a descriptor.
    say('w', ::syscall(SYS_fcntl, 1, F_SETOWN, other));
    say('s', ::syscall(SYS_fcntl, 1, F_SETFL, O_ASYNC));
    // What it may: look at its own limits and descriptors, and signal itself.
    say('L', ::syscall(SYS_prlimit64, 0, RLIMIT_CPU, nullptr, &read));
    say('D', ::fcntl(1, F_GETFL) >= 0 ? 0 : -1);
    say('S', ::syscall(SYS_tgkill, ::getpid(), ::getpid(), SIGCHLD));
    return bytes_of(text);
  });
  CHECK(result.end == ProcessEnd::kDone);
  CHECK(result.answer == "--------LDS");
  CHECK(::waitpid(other, nullptr, WNOHANG) == 0);
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_cur);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_CASE("confined process: opens what its parent opens for it, for reading, so many files") {
  const test::ScratchDirectory folder;
  const std::string wanted = folder.file("wanted");
  const std::string secret = folder.file("secret");
  for (const std::string& path : {wanted, secret}) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    REQUIRE(::write(file, "abc", 3) == 3);
    ::close(file);
  }
  std::vector<std::string> asked;
  ProcessLimits limits;
  limits.new_files = 3;
  const EndOfWork result = run_work(
      [&]() -> Result<ProcessBytes> {
        std::string text;
        std::array<char, 4> content{};
        const int file = ::open(wanted.c_str(), O_RDONLY | O_CLOEXEC);
        text += ::pread(file, content.data(), 3, 0) == 3 ? 'w' : '-';
        text += (::fcntl(file, F_GETFD) & FD_CLOEXEC) != 0 ? 'c' : '-';
        text += ::open(secret.c_str(), O_RDONLY) < 0 && errno == ENOENT ? '-' : 's';
        // These are no questions.
        for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT,
                                O_WRONLY | O_APPEND, O_PATH}) {
          text += ::open(wanted.c_str(), flags, 0600) < 0 && errno == EPERM ? '-' : 'W';
        }
        text += ::open("wanted", O_RDONLY) < 0 && errno == EPERM ? '-' : 'R';
        text += ::syscall(SYS_openat, AT_FDCWD, nullptr, O_RDONLY) < 0 ? '-' : 'N';
        text += ::open(wanted.c_str(), O_RDONLY) >= 0 ? '3' : '-';
        text += ::open(wanted.c_str(), O_RDONLY) >= 0 ? '4' : '-';
        return bytes_of(text);
      },
      limits, {},
      [&](const std::string& path) {
        asked.push_back(path);
        return path == wanted ? Descriptor(::open(path.c_str(), O_RDONLY)) : Descriptor();
      });
  CHECK(result.end == ProcessEnd::kDone);
  CHECK(result.answer ==
        "wc-"
        "------"
        "--"
        "3-");
  CHECK(asked == std::vector<std::string>{wanted, secret, wanted});
}

TEST_CASE("confined process: where the parent may not look into it, no file, and no waiting") {
  ProcessLimits limits;
  limits.new_files = 8;
  const int before = ::prctl(PR_GET_DUMPABLE);
  REQUIRE(::prctl(PR_SET_DUMPABLE, 0) == 0);
  const bool is_root = ::geteuid() == 0;  // may all the same
  const EndOfWork result = run_work(
      [&]() -> Result<ProcessBytes> {
        return bytes_of(::open("/etc/passwd", O_RDONLY) < 0 ? "none" : "some");
      },
      limits, {},
      [](const std::string& path) { return Descriptor(::open(path.c_str(), O_RDONLY)); });
  ::prctl(PR_SET_DUMPABLE, before);
  CHECK(result.end == ProcessEnd::kDone);
  CHECK(result.answer == (is_root ? "some" : "none"));
}

TEST_CASE("confined process: a path that lies across two pages, of which one is not there") {
  ProcessLimits limits;
  limits.new_files = 8;
  std::vector<std::string> asked;
  const EndOfWork result = run_work(
      [&]() -> Result<ProcessBytes> {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        char* const room = static_cast<char*>(
            ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        const std::string path = "/across/pages";
        std::copy(path.begin(), path.end(), room + page - 4);
        ::open(room + page - 4, O_RDONLY);
        std::copy_n(path.c_str(), path.size() + 1, room + page - path.size() - 1);
        ::munmap(room + page, page);
        ::open(room + page - path.size() - 1, O_RDONLY);
        std::fill(room, room + page, 'x');
        ::open(room, O_RDONLY);  // without an end
        return bytes_of("done");
      },
      limits, {},
      [&](const std::string& path) {
        asked.push_back(path);
        return Descriptor();
      });
  CHECK(result.answer == "done");
  CHECK(asked == std::vector<std::string>{"/across/pages", "/across/pages"});
}
#endif

}  // namespace stackpack::io
