#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// Lowers a limit, and leaves one that is lower already. `hard`: how much more than that cannot be
// had, whatever the process does. False: it is not so.
bool limit(int resource, std::uint64_t most, std::uint64_t hard = 0) {
  rlimit value{};
  if (::getrlimit(resource, &value) != 0) {
    return false;
  }
  value.rlim_cur = std::min<rlim_t>(value.rlim_cur, most);
  value.rlim_max = std::min<rlim_t>(value.rlim_max, value.rlim_cur + hard);
  return ::setrlimit(resource, &value) == 0;
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

// False: the process is not as confined as it has to be. `questions`: as Confinement::questions.
bool confine(std::vector<int> files, const ProcessLimits& limits, [[maybe_unused]] int& questions) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(*-vararg)
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGSEGV, SIGBUS, SIGABRT, SIGXCPU}) {
    ::signal(number, SIG_DFL);
  }
  ::signal(SIGXFSZ, SIG_IGN);
  ::unsetenv("DEBUGINFOD_URLS");
  const unsigned next = close_others(std::move(files));
  bool done = true;
#ifndef STACKPACK_SHADOW_MEMORY
  done = limit(RLIMIT_AS, address_space() + limits.memory_bytes);
#endif
  done =
      done && limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) &&
      limit(RLIMIT_CPU, limits.cpu_seconds, 1) &&
      // One more is the descriptor that questions come in by.
      limit(RLIMIT_NOFILE, limits.new_files == 0 ? 0 : std::uint64_t{next} + 1 + limits.new_files);
#ifndef STACKPACK_SHADOW_MEMORY
  // Sanitizers make calls of their own.
  const Confinement confinement =
      confine_calls(limits.new_files == 0 ? OpenCalls::kRefuse : OpenCalls::kAsk);
  questions = confinement.questions;
  done = done && (confinement.done || limits.without_filter);
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

// `spent`: all the processor time that it may take.
ProcessEnd end_of_signal(int number, bool spent) {
  switch (number) {
    case SIGXCPU:
      return ProcessEnd::kOutOfTime;
    case SIGKILL:
      return spent ? ProcessEnd::kOutOfTime : ProcessEnd::kKilled;
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGABRT:
    case SIGSYS:
    case SIGTRAP:
      return ProcessEnd::kCrashed;
    default:
      return ProcessEnd::kKilled;
  }
}

/// The ends of pipes that a confined process has.
struct ChildEnds {
  int answer = -1;
  int start = -1;  ///< at its end when the process may begin
};

// Says where questions come in, and waits until they are heard. Where nobody could take them there
// is nobody left then who has that descriptor, and what would ask fails at once.
bool announce(const ChildEnds& ends, int questions) {
  if (!write_all(ends.answer, std::as_bytes(std::span(&questions, 1)))) {
    return false;
  }
  std::byte nothing{};
  while (::read(ends.start, &nothing, 1) < 0 && errno == EINTR) {
  }
  ::close(ends.start);
  ::close(questions);
  return true;
}

[[noreturn]] void run_confined(std::vector<int> files, const ChildEnds& ends,
                               const ProcessLimits& limits, const ConfinedProcess::Work& work) {
  int code = kExitFailed;
  try {
    int questions = -1;
    if (!confine(std::move(files), limits, questions)) {
      ::_exit(kExitNotConfined);
    }
    if (!announce(ends, questions)) {
      ::_exit(kExitFailed);
    }
    const Result<ConfinedProcess::Bytes> answer = work();
    if (answer && write_all(ends.answer, *answer)) {
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

ConfinedProcess::ConfinedProcess(int pid, Descriptor pipe, Descriptor start,
                                 const ProcessLimits& limits, OpenFile open)
    : pid_(pid),
      pipe_(std::move(pipe)),
      start_(std::move(start)),
      limits_(limits),
      deadline_ms_(now_ms() + std::int64_t{1000} * limits.wall_seconds),
      open_(std::move(open)) {}

ConfinedProcess::ConfinedProcess(ConfinedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pipe_(std::move(other.pipe_)),
      start_(std::move(other.start_)),
      limits_(other.limits_),
      deadline_ms_(other.deadline_ms_),
      end_(other.end_),
      stopped_(other.stopped_),
      head_(std::move(other.head_)),
      requests_(std::move(other.requests_)),
      open_(std::move(other.open_)),
      opened_(other.opened_),
      answer_(std::move(other.answer_)) {}

ConfinedProcess& ConfinedProcess::operator=(ConfinedProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pipe_, other.pipe_);
  std::swap(start_, other.start_);
  std::swap(limits_, other.limits_);
  std::swap(deadline_ms_, other.deadline_ms_);
  std::swap(end_, other.end_);
  std::swap(stopped_, other.stopped_);
  std::swap(head_, other.head_);
  std::swap(requests_, other.requests_);
  std::swap(open_, other.open_);
  std::swap(opened_, other.opened_);
  std::swap(answer_, other.answer_);
  return *this;
}

ConfinedProcess::~ConfinedProcess() {
  stop(ProcessEnd::kFailed);
}

Result<ConfinedProcess> ConfinedProcess::start(std::span<const int> files,
                                               const ProcessLimits& limits, const Work& work,
                                               OpenFile open) {
  std::array<int, 2> answer{};
  if (::pipe2(answer.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kResource, kNoOffset, "cannot make a pipe", errno};
  }
  Descriptor out(answer[0]);
  const Descriptor in(answer[1]);
  std::array<int, 2> begin{};
  if (::pipe2(begin.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kResource, kNoOffset, "cannot make a pipe", errno};
  }
  const Descriptor begin_end(begin[0]);
  Descriptor begin_signal(begin[1]);
  // Made before there is a second process, which must not leave this function by an exception.
  std::vector<int> kept(files.begin(), files.end());
  kept.push_back(in.get());
  kept.push_back(begin_end.get());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error{ErrorCode::kResource, kNoOffset, "cannot make a process", errno};
  }
  if (pid == 0) {
    if (::getppid() != parent) {
      ::_exit(kExitFailed);
    }
    run_confined(std::move(kept), {in.get(), begin_end.get()}, limits, work);
  }
  ::fcntl(out.get(), F_SETFL, O_NONBLOCK);  // NOLINT(*-vararg)
  if (limits.new_files == 0) {
    begin_signal.reset();  // it asks for nothing
  }
  return ConfinedProcess(pid, std::move(out), std::move(begin_signal), limits, std::move(open));
}

void ConfinedProcess::stop(ProcessEnd end) {
  if (pid_ <= 0) {
    return;
  }
  stopped_ = true;
  end_ = end;
  ::kill(pid_, SIGKILL);
  reap();
}

void ConfinedProcess::reap() {
  int status = 0;
  rusage used{};
  while (::wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  pipe_.reset();
  start_.reset();
  requests_ = {};
  if (stopped_) {
    return;
  }
  if (WIFEXITED(status)) {
    end_ = end_of_exit(WEXITSTATUS(status));
    return;
  }
  const auto seconds = static_cast<std::uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       (used.ru_utime.tv_usec + used.ru_stime.tv_usec >= 1'000'000 ? 1U : 0U);
  end_ = end_of_signal(WTERMSIG(status), seconds >= limits_.cpu_seconds);
}

void ConfinedProcess::take_bytes(std::span<const std::byte> bytes) {
  if (head_.size() < sizeof(int)) {
    const auto head = bytes.first(std::min(bytes.size(), sizeof(int) - head_.size()));
    head_.insert(head_.end(), head.begin(), head.end());
    bytes = bytes.subspan(head.size());
    if (head_.size() == sizeof(int)) {
      int questions = -1;
      std::memcpy(&questions, head_.data(), sizeof questions);
      requests_ = questions < 0 ? OpenRequests() : OpenRequests(pid_, questions);
      start_.reset();
    }
  }
  answer_.insert(answer_.end(), bytes.begin(), bytes.end());
}

// Takes in what there is. True at the end of the answer.
bool ConfinedProcess::take_answer() {
  std::array<std::byte, std::size_t{1} << 16> block{};
  while (true) {
    const ssize_t count = ::read(pipe_.get(), block.data(), block.size());
    if (count == 0) {
      return true;
    }
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        stop(ProcessEnd::kFailed);
      }
      return false;
    }
    take_bytes(std::span(block).first(static_cast<std::size_t>(count)));
    if (answer_.size() > limits_.answer_bytes) {
      stop(ProcessEnd::kAnswerTooLong);
      return false;
    }
  }
}

void ConfinedProcess::answer_requests() {
  requests_.answer([this](const std::string& path) {
    if (!open_ || opened_ >= limits_.new_files) {
      return Descriptor();
    }
    ++opened_;
    return open_(path);
  });
}

bool ConfinedProcess::proceed() {
  if (pid_ > 0 && take_answer()) {
    reap();
  }
  if (pid_ > 0) {
    answer_requests();
  }
  if (pid_ > 0 && now_ms() > deadline_ms_) {
    stop(ProcessEnd::kOutOfTime);
  }
  return pid_ <= 0;
}

void ConfinedProcess::wait_for_any(std::span<ConfinedProcess* const> processes,
                                   unsigned milliseconds) {
  std::vector<pollfd> pipes;
  pipes.reserve(processes.size());
  for (const ConfinedProcess* const process : processes) {
    pipes.push_back({process->pipe_.get(), POLLIN, 0});
    pipes.push_back({process->requests_.descriptor(), POLLIN, 0});  // -1 is passed over
  }
  ::poll(pipes.data(), pipes.size(), static_cast<int>(milliseconds));
}

}  // namespace stackpack::io
