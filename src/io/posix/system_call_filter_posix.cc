#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/system_call_filter.h"

namespace stackpack::io {

#if defined(__x86_64__) || defined(__aarch64__)

namespace {

#ifdef __x86_64__
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif

constexpr std::array kAllowed{
    SYS_read,         SYS_pread64,     SYS_write,           SYS_writev,
    SYS_lseek,        SYS_close,       SYS_fstat,           SYS_newfstatat,
    SYS_mmap,         SYS_munmap,      SYS_mremap,          SYS_mprotect,
    SYS_madvise,      SYS_brk,         SYS_futex,           SYS_clock_gettime,
    SYS_gettimeofday, SYS_getrandom,   SYS_rt_sigaction,    SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_exit,        SYS_exit_group,      SYS_getpid,
    SYS_gettid,       SYS_sched_yield, SYS_restart_syscall, SYS_readlinkat,
#ifdef SYS_stat
    SYS_stat,         SYS_lstat,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

constexpr std::array kOpening{
    SYS_openat,
#ifdef SYS_open
    SYS_open,
#endif
};

constexpr std::uint32_t kFirst = offsetof(seccomp_data, args);
constexpr std::uint32_t kArgument = sizeof(std::uint64_t);
constexpr std::uint32_t kHigh =
    sizeof(std::uint32_t);  // of an argument: machines are little-endian

/// Half of an argument, which must have a value.
struct WantedWord {
  std::uint32_t offset = 0;
  std::uint32_t value = 0;
};

/// A program for the kernel that looks at each call.
class FilterProgram {
 public:
  explicit FilterProgram(OpenCalls open) {
    add(kLoad, offsetof(seccomp_data, arch));
    add(kIfEqual, kMachine, 1, 0);
    add(kReturn, SECCOMP_RET_KILL_PROCESS);
    add(kLoad, kNumber);
    for (const long number : kAllowed) {
      decide(number, SECCOMP_RET_ALLOW);
    }
    for (const long number : kOpening) {
      decide(number, open == OpenCalls::kAsk ? SECCOMP_RET_USER_NOTIF : kRefuse);
    }
    // A signal to itself, as abort() sends it. The kernel takes processes by 32 bits.
    allow_when(SYS_tgkill, std::array{WantedWord{kFirst, static_cast<std::uint32_t>(::getpid())}});
    // Its own limits, and not to change them: no process, and no new limit.
    constexpr std::uint32_t kNewLimit = kFirst + 2 * kArgument;
    allow_when(SYS_prlimit64, std::array{WantedWord{kFirst, 0}, WantedWord{kNewLimit, 0},
                                         WantedWord{kNewLimit + kHigh, 0}});
    // Others of its commands make the kernel send signals.
    for (const int command : {F_GETFL, F_GETFD}) {
      allow_when(SYS_fcntl,
                 std::array{WantedWord{kFirst + kArgument, static_cast<std::uint32_t>(command)}});
    }
    add(kReturn, kRefuse);
  }

  // The descriptor that questions come in by, or 0; nothing when the kernel did not take it.
  std::optional<int> install(OpenCalls open) {
    const sock_fprog filter{static_cast<unsigned short>(statements_.size()), statements_.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {  // NOLINT(*-vararg)
      return std::nullopt;
    }
    const long done =
        open == OpenCalls::kAsk
            ? ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,  // NOLINT(*-vararg)
                        static_cast<unsigned>(SECCOMP_FILTER_FLAG_NEW_LISTENER), &filter)
            : ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);  // NOLINT(*-vararg)
    return done < 0 ? std::nullopt : std::optional(static_cast<int>(done));
  }

 private:
  static constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  static constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  static constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  static constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  static constexpr std::uint16_t kReturn = BPF_RET | BPF_K;

  // `yes`, `no`: statements to pass over.
  void add(std::uint16_t code, std::uint32_t value, std::size_t yes = 0, std::size_t no = 0) {
    statements_.push_back(
        {code, static_cast<std::uint8_t>(yes), static_cast<std::uint8_t>(no), value});
  }

  void decide(long number, std::uint32_t what) {
    add(kIfEqual, static_cast<std::uint32_t>(number), 0, 1);
    add(kReturn, what);
  }

  // Any other call, and the same one with other arguments, goes on behind.
  template <std::size_t kCount>
  void allow_when(long number, const std::array<WantedWord, kCount>& words) {
    add(kIfEqual, static_cast<std::uint32_t>(number), 0, 2 * kCount + 2);
    for (std::size_t i = 0; i < kCount; ++i) {
      add(kLoad, words[i].offset);
      add(kIfEqual, words[i].value, 0, 2 * (kCount - 1 - i) + 1);
    }
    add(kReturn, SECCOMP_RET_ALLOW);
    add(kLoad, kNumber);
  }

  std::vector<sock_filter> statements_;
};

}  // namespace

Confinement confine_calls(OpenCalls open) {
  if (open == OpenCalls::kAsk) {
    if (const std::optional<int> questions = FilterProgram(open).install(open)) {
      return {true, *questions};
    }
  }
  return {FilterProgram(OpenCalls::kRefuse).install(OpenCalls::kRefuse).has_value(), -1};
}

#else

Confinement confine_calls(OpenCalls /*open*/) {
  return {};
}

#endif

}  // namespace stackpack::io
