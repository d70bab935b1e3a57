// The questions are notifications of the kernel's filter of system calls: seccomp_unotify(2). The
// path is copied before it is judged, and the file is put into the asking process by the kernel, so
// that nothing that process does in between changes what it gets.
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/open_requests.h"

namespace stackpack::io {

namespace {

// Of the calls that open files: where the path is among the arguments.
struct OpenCall {
  std::uint64_t path = 0;
  std::uint64_t flags = 0;
};

OpenCall call_of(const seccomp_data& data) {
#ifdef SYS_open
  if (data.nr == SYS_open) {
    return {data.args[0], data.args[1]};
  }
#endif
  return {data.args[1], data.args[2]};
}

bool only_reads(std::uint64_t flags) {
  constexpr std::uint64_t kHarmless =
      std::uint64_t{O_CLOEXEC} | O_NOCTTY | O_NONBLOCK | O_LARGEFILE | O_NOFOLLOW;
  // The C library's O_LARGEFILE is 0 where the kernel's is not.
  constexpr std::uint64_t kLargeFile = 0100000;
  constexpr std::uint64_t kLargeFileArm = 0400000;
  return (static_cast<std::uint32_t>(flags) & ~(kHarmless | kLargeFile | kLargeFileArm)) ==
         O_RDONLY;
}

// A text of another process; nothing when it has none there. Page by page, for the next one may
// not be mapped.
std::optional<std::string> text_at(int pid, std::uint64_t address) {
  constexpr std::size_t kBlock = 4096;
  std::string text;
  std::array<char, kBlock> block{};
  while (text.size() < PATH_MAX) {
    const iovec local{block.data(), kBlock - static_cast<std::size_t>(address % kBlock)};
    // NOLINTNEXTLINE(*-reinterpret-cast,*-int-to-ptr): an address there, which is not used here
    const iovec remote{reinterpret_cast<void*>(address), local.iov_len};
    const ssize_t count = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (count <= 0) {
      return std::nullopt;
    }
    const std::string_view part(block.data(), static_cast<std::size_t>(count));
    const std::size_t end = part.find('\0');
    text += part.substr(0, end);
    if (end != std::string_view::npos) {
      return text;
    }
    address += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

/// A notification with as much room as this kernel's have.
class Question {
 public:
  Question() {
    seccomp_notif_sizes sizes{};
    // NOLINTNEXTLINE(*-vararg): its interface
    if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0U, &sizes) != 0) {
      return;
    }
    const std::size_t bytes =
        std::max<std::size_t>({sizes.seccomp_notif, sizes.seccomp_notif_resp, sizeof(seccomp_notif),
                               sizeof(seccomp_notif_resp)});
    room_.resize(bytes / sizeof(std::uint64_t) + 1);
  }

  bool take(int questions) {
    if (room_.empty()) {
      return false;
    }
    std::fill(room_.begin(), room_.end(), 0);
    auto* const asked = new (room_.data()) seccomp_notif{};
    if (::ioctl(questions, SECCOMP_IOCTL_NOTIF_RECV, asked) != 0) {  // NOLINT(*-vararg)
      return false;
    }
    asked_ = *asked;
    return true;
  }

  [[nodiscard]] const seccomp_notif& asked() const { return asked_; }

  // Whether the process that asked is still there: its number may be another one's by now.
  [[nodiscard]] bool is_valid(int questions) const {
    std::uint64_t id = asked_.id;
    return ::ioctl(questions, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;  // NOLINT(*-vararg)
  }

  // `error`: 0, and the number of the file in the other process.
  void answer(int questions, int error, int number) {
    std::fill(room_.begin(), room_.end(), 0);
    auto* const said = new (room_.data()) seccomp_notif_resp{};
    said->id = asked_.id;
    said->error = -error;
    said->val = error == 0 ? number : 0;
    ::ioctl(questions, SECCOMP_IOCTL_NOTIF_SEND, said);  // NOLINT(*-vararg)
  }

  // Puts a file into the process that asks: its number there, or -1.
  [[nodiscard]] int put(int questions, const Descriptor& file) const {
    seccomp_notif_addfd added{};
    added.id = asked_.id;
    added.srcfd = static_cast<std::uint32_t>(file.get());
    added.newfd_flags = O_CLOEXEC;
    return ::ioctl(questions, SECCOMP_IOCTL_NOTIF_ADDFD, &added);  // NOLINT(*-vararg)
  }

 private:
  std::vector<std::uint64_t> room_;
  seccomp_notif asked_{};
};

}  // namespace

OpenRequests::OpenRequests(int pid, int number) : pid_(pid) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  // NOLINTNEXTLINE(*-vararg): its interface
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (process) {
    // NOLINTNEXTLINE(*-vararg): its interface
    questions_ =
        Descriptor(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0U)));
  }
#else
  static_cast<void>(number);
#endif
}

void OpenRequests::answer(const OpenFile& open) {
  pollfd waiting{questions_.get(), POLLIN, 0};
  while (questions_ && ::poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLIN) != 0 &&
         answer_one(open)) {
  }
}

bool OpenRequests::answer_one(const OpenFile& open) {
  Question question;
  if (!question.take(questions_.get())) {
    return false;
  }
  const OpenCall call = call_of(question.asked().data);
  const std::optional<std::string> path =
      only_reads(call.flags) ? text_at(pid_, call.path) : std::nullopt;
  if (!path || !path->starts_with('/') || !question.is_valid(questions_.get())) {
    question.answer(questions_.get(), EPERM, 0);
    return true;
  }
  const Descriptor file = open ? open(*path) : Descriptor();
  const int number = file ? question.put(questions_.get(), file) : -1;
  question.answer(questions_.get(), number < 0 ? ENOENT : 0, number);
  return true;
}

}  // namespace stackpack::io
