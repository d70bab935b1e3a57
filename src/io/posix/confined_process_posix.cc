#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/confined_process.h"
#include "io/system_call_filter.h"
#include "io/system_file.h"

namespace stackpack::io {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACKPACK_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define STACKPACK_SHADOW_MEMORY 1
#endif
#endif

constexpr int kExitFailed = 1;
constexpr int kExitOutOfMemory = 3;
constexpr int kExitNotConfined = 4;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Lowers a limit, and leaves one that is lower already. False: it is not so.
bool limit(int resource, std::uint64_t most) {
  const auto which = static_cast<__rlimit_resource_t>(resource);
  rlimit value{};
  if (::getrlimit(which, &value) != 0) {
    return false;
  }
  value.rlim_cur = std::min<rlim_t>(value.rlim_cur, most);
  value.rlim_max = value.rlim_cur;
  return ::setrlimit(which, &value) == 0;
}

#ifndef STACKPACK_SHADOW_MEMORY
// Bytes of address space that the process has now. Allocates nothing.
std::uint64_t address_space() {
  const Descriptor file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));  // NOLINT(*-vararg)
  std::array<char, 64> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) {
    return std::uint64_t{1} << 30;
  }
  return std::strtoull(text.data(), nullptr, 10) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
#endif

void close_range_of(unsigned first, unsigned last) {
  if (first > last) {
    return;
  }
  if (::syscall(SYS_close_range, first, last, 0U) == 0) {  // NOLINT(*-vararg)
    return;
  }
  constexpr unsigned kMost = 65'536;
  for (unsigned i = first; i <= std::min(last, kMost); ++i) {
    ::close(static_cast<int>(i));
  }
}

// Everything but standard streams, which become nothing, and `kept`.
unsigned close_others(std::vector<int> kept) {
  const int nothing = ::open("/dev/null", O_RDWR);  // NOLINT(*-vararg)
  for (int i = 0; i < 3; ++i) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) {
      ::dup2(nothing, i);
    }
  }
  std::sort(kept.begin(), kept.end());
  unsigned next = 3;
  for (const int file : kept) {
    if (file >= 3) {
      close_range_of(next, static_cast<unsigned>(file) - 1);
      next = static_cast<unsigned>(file) + 1;
    }
  }
  close_range_of(next, ~0U);
  return next;
}

// False: the process is not as confined as it has to be.
bool confine(std::span<const int> files, int pipe, const ProcessLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(*-vararg)
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGSEGV, SIGBUS, SIGABRT, SIGXCPU}) {
    ::signal(number, SIG_DFL);
  }
  ::signal(SIGXFSZ, SIG_IGN);
  ::unsetenv("DEBUGINFOD_URLS");
  std::vector<int> kept(files.begin(), files.end());
  kept.push_back(pipe);
  const unsigned next = close_others(std::move(kept));
  bool done = true;
#ifndef STACKPACK_SHADOW_MEMORY
  done = limit(RLIMIT_AS, address_space() + limits.memory_bytes);
#endif
  done = done && limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) &&
         limit(RLIMIT_CPU, limits.cpu_seconds) &&
         limit(RLIMIT_NOFILE, limits.new_files == 0 ? 0 : std::uint64_t{next} + limits.new_files);
#ifndef STACKPACK_SHADOW_MEMORY
  // Sanitizers make calls of their own.
  done = done && (allow_reading_only() || limits.without_filter);
#endif
  return done;
}

ProcessEnd end_of_exit(int code) {
  switch (code) {
    case 0:
      return ProcessEnd::kDone;
    case kExitOutOfMemory:
      return ProcessEnd::kOutOfMemory;
    case kExitNotConfined:
      return ProcessEnd::kNotConfined;
    default:
      return ProcessEnd::kFailed;
  }
}

[[noreturn]] void run_confined(std::span<const int> files, int pipe, const ProcessLimits& limits,
                               const ConfinedProcess::Work& work) {
  int code = kExitFailed;
  try {
    if (!confine(files, pipe, limits)) {
      ::_exit(kExitNotConfined);
    }
    const Result<ConfinedProcess::Bytes> answer = work();
    if (answer && write_all(pipe, *answer)) {
      code = 0;
    } else if (!answer && answer.error().code == ErrorCode::kResource) {
      code = kExitOutOfMemory;
    }
  } catch (const std::bad_alloc&) {
    code = kExitOutOfMemory;
  } catch (...) {
    code = kExitFailed;
  }
  ::_exit(code);
}

}  // namespace

ConfinedProcess::ConfinedProcess(int pid, Descriptor pipe, const ProcessLimits& limits)
    : pid_(pid),
      pipe_(std::move(pipe)),
      limits_(limits),
      deadline_ms_(now_ms() + std::int64_t{1000} * limits.wall_seconds) {}

ConfinedProcess::ConfinedProcess(ConfinedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pipe_(std::move(other.pipe_)),
      limits_(other.limits_),
      deadline_ms_(other.deadline_ms_),
      end_(other.end_),
      stopped_(other.stopped_),
      answer_(std::move(other.answer_)) {}

ConfinedProcess& ConfinedProcess::operator=(ConfinedProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pipe_, other.pipe_);
  std::swap(limits_, other.limits_);
  std::swap(deadline_ms_, other.deadline_ms_);
  std::swap(end_, other.end_);
  std::swap(stopped_, other.stopped_);
  std::swap(answer_, other.answer_);
  return *this;
}

ConfinedProcess::~ConfinedProcess() {
  if (pid_ > 0) {
    kill_it();
    reap();
  }
}

Result<ConfinedProcess> ConfinedProcess::start(std::span<const int> files,
                                               const ProcessLimits& limits, const Work& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kResource, kNoOffset, "cannot make a pipe", errno};
  }
  Descriptor out(ends[0]);
  const Descriptor in(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error{ErrorCode::kResource, kNoOffset, "cannot make a process", errno};
  }
  if (pid == 0) {
    if (::getppid() != parent) {
      ::_exit(kExitFailed);
    }
    run_confined(files, in.get(), limits, work);
  }
  ::fcntl(out.get(), F_SETFL, O_NONBLOCK);  // NOLINT(*-vararg)
  return ConfinedProcess(pid, std::move(out), limits);
}

void ConfinedProcess::kill_it() {
  ::kill(pid_, SIGKILL);
}

void ConfinedProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  pipe_.reset();
  if (stopped_) {
    return;
  }
  if (WIFEXITED(status)) {
    end_ = end_of_exit(WEXITSTATUS(status));
  } else {
    const int number = WTERMSIG(status);
    end_ = number == SIGXCPU || number == SIGKILL ? ProcessEnd::kOutOfTime : ProcessEnd::kCrashed;
  }
}

bool ConfinedProcess::proceed() {
  if (pid_ <= 0) {
    return true;
  }
  std::array<std::byte, std::size_t{1} << 16> block{};
  while (true) {
    const ssize_t count = ::read(pipe_.get(), block.data(), block.size());
    answer_.insert(answer_.end(), block.begin(), block.begin() + std::max<ssize_t>(count, 0));
    if (count == 0) {
      reap();
      return true;
    }
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      break;
    }
    if (count < 0 || answer_.size() > limits_.answer_bytes) {
      stopped_ = true;
      end_ = count < 0 ? ProcessEnd::kFailed : ProcessEnd::kAnswerTooLong;
      break;
    }
  }
  if (!stopped_ && now_ms() > deadline_ms_) {
    stopped_ = true;
    end_ = ProcessEnd::kOutOfTime;
  }
  if (stopped_) {
    kill_it();
    reap();
    return true;
  }
  return false;
}

void ConfinedProcess::wait_for_any(std::span<ConfinedProcess* const> processes,
                                   unsigned milliseconds) {
  std::vector<pollfd> pipes;
  pipes.reserve(processes.size());
  for (const ConfinedProcess* const process : processes) {
    pipes.push_back({process->pipe_.get(), POLLIN, 0});
  }
  ::poll(pipes.data(), pipes.size(), static_cast<int>(milliseconds));
}

}  // namespace stackpack::io
