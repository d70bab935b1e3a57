#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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
    SYS_read,         SYS_pread64,   SYS_write,           SYS_writev,
    SYS_lseek,        SYS_close,     SYS_fstat,           SYS_newfstatat,
    SYS_mmap,         SYS_munmap,    SYS_mremap,          SYS_mprotect,
    SYS_madvise,      SYS_brk,       SYS_futex,           SYS_clock_gettime,
    SYS_gettimeofday, SYS_getrandom, SYS_rt_sigaction,    SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_exit,      SYS_exit_group,      SYS_getpid,
    SYS_gettid,       SYS_tgkill,    SYS_restart_syscall, SYS_sched_yield,
    SYS_readlinkat,   SYS_fcntl,     SYS_prlimit64,       SYS_sched_getaffinity,
#ifdef SYS_stat
    SYS_stat,         SYS_lstat,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

/// A program for the kernel that looks at each call.
class FilterProgram {
 public:
  FilterProgram() {
    add(kLoad, offsetof(seccomp_data, arch));
    add(kIfEqual, kMachine, 1, 0);
    add(kReturn, SECCOMP_RET_KILL_PROCESS);
    add(kLoad, offsetof(seccomp_data, nr));
    // The flags are the third argument, or the second.
    allow_for_reading(SYS_openat, 2);
#ifdef SYS_open
    allow_for_reading(SYS_open, 1);
#endif
    for (const long number : kAllowed) {
      add(kIfEqual, static_cast<std::uint32_t>(number), 0, 1);
      add(kReturn, SECCOMP_RET_ALLOW);
    }
    add(kReturn, kRefuse);
  }

  // Whether the kernel took it.
  bool install() {
    const sock_fprog filter{static_cast<unsigned short>(size_), statements_.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&             // NOLINT(*-vararg)
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;  // NOLINT(*-vararg)
  }

 private:
  static constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  static constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  static constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  static constexpr std::uint16_t kIfAny = BPF_JMP | BPF_JSET | BPF_K;
  static constexpr std::uint16_t kReturn = BPF_RET | BPF_K;

  // `yes`, `no`: statements to pass over.
  void add(std::uint16_t code, std::uint64_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
    statements_[size_++] = {code, yes, no, static_cast<std::uint32_t>(value)};
  }

  void allow_for_reading(long number, std::size_t flags) {
    constexpr std::uint32_t kChanges = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    constexpr std::uint8_t kRest = 4;  // statements that another call passes over
    add(kIfEqual, static_cast<std::uint32_t>(number), 0, kRest);
    add(kLoad, offsetof(seccomp_data, args) + flags * sizeof(std::uint64_t));
    add(kIfAny, kChanges, 0, 1);
    add(kReturn, kRefuse);
    add(kReturn, SECCOMP_RET_ALLOW);
  }

  std::array<sock_filter, 2 * kAllowed.size() + 15> statements_{};
  std::size_t size_ = 0;
};

}  // namespace

bool allow_reading_only() {
  return FilterProgram().install();
}

#else

bool allow_reading_only() {
  return false;
}

#endif

}  // namespace stackpack::io
