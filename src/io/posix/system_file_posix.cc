#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/files_read.h"
#include "io/system_file.h"

namespace stackpack::io {

namespace {

constexpr std::uint32_t kAllPermissions = 0777;

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) {
    return FileKind::kRegular;
  }
  return S_ISDIR(mode) ? FileKind::kDirectory : FileKind::kOther;
}

FileStatus status_of(const struct stat& found) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return {kind_of(found.st_mode),
          {static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino)},
          static_cast<std::uint64_t>(found.st_size),
          std::int64_t{found.st_mtim.tv_sec} * kNsPerSecond + found.st_mtim.tv_nsec,
          static_cast<std::uint32_t>(found.st_mode) & kAllPermissions};
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

Error open_error(int number) {
  const bool missing = number == ENOENT || number == ENOTDIR || number == ELOOP;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kIo, kNoOffset, "cannot open", number};
}

// For kernels that cannot confine a look-up: part by part, through no symbolic link.
Descriptor open_without_links(Descriptor at, std::string_view path) {
  while (at) {
    const std::size_t begin = path.find_first_not_of('/');
    if (begin == std::string_view::npos) {
      break;
    }
    const std::size_t end = path.find('/', begin);
    const std::string part(path.substr(begin, end - begin));
    if (part == "..") {
      errno = ENOENT;
      return {};
    }
    const bool last = end == std::string_view::npos;
    const int flags = kReadOnly | O_NOFOLLOW | (last ? 0 : O_DIRECTORY);
    at = Descriptor(::openat(at.get(), part.c_str(), flags));  // NOLINT(*-vararg): its interface
    if (last) {
      break;
    }
    path.remove_prefix(end);
  }
  return at;
}

Descriptor open_inside(const std::string& root, const std::string& path) {
  Descriptor at(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));  // NOLINT(*-vararg)
  if (!at) {
    return {};
  }
  open_how how{};
  how.flags = static_cast<std::uint64_t>(kReadOnly);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long opened =
      ::syscall(SYS_openat2, at.get(), path.c_str(), &how, sizeof how);  // NOLINT(*-vararg)
  if (opened >= 0) {
    return Descriptor(static_cast<int>(opened));
  }
  return errno == ENOSYS ? open_without_links(std::move(at), path) : Descriptor();
}

}  // namespace

void Descriptor::reset() {
  if (number_ >= 0) {
    ::close(std::exchange(number_, -1));
  }
}

Descriptor open_to_read(const std::string& path, Fifo fifo) {
  const int wait = fifo == Fifo::kGoOn ? O_NONBLOCK : 0;
  return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | wait));  // NOLINT(*-vararg)
}

Descriptor open_to_write(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));  // NOLINT(*-vararg)
}

std::string resolved_path(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  std::free(real);  // NOLINT: the C library's own
  return result;
}

bool look_at(int descriptor, FileStatus& status) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) {
    return false;
  }
  status = status_of(found);
  return true;
}

bool look_at(const std::string& path, FileStatus& status) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return false;
  }
  status = status_of(found);
  return true;
}

std::int64_t read_some(int descriptor, std::span<std::byte> into) {
  ssize_t count = 0;
  do {
    count = ::read(descriptor, into.data(), into.size());
  } while (count < 0 && errno == EINTR);
  return count;
}

std::int64_t read_some_at(int descriptor, std::uint64_t offset, std::span<std::byte> into) {
  ssize_t count = 0;
  do {
    count = ::pread(descriptor, into.data(), into.size(), static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  return count;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool write_all_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool is_at_start(int descriptor) {
  return ::lseek(descriptor, 0, SEEK_CUR) == 0;
}

Descriptor duplicate(const Descriptor& descriptor) {
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));  // NOLINT(*-vararg)
}

Descriptor open_nameless(const std::string& directory) {
  constexpr int kPrivate = 0600;
  Descriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC,  // NOLINT(*-vararg)
                         kPrivate));
  if (!file) {
    std::string name = directory + "/.stackpack-XXXXXX";
    file = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file) {
      ::unlink(name.c_str());
    }
  }
  return file;
}

bool list_names(const std::string& directory, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, CloseDirectory> opened(::opendir(directory.c_str()));
  if (opened == nullptr) {
    return false;
  }
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(opened.get());
    if (entry == nullptr) {
      return errno == 0;
    }
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
}

// Process ids of another machine that shares the folder mean nothing here: its processes are known
// by their lock.
void remove_if_abandoned(const std::string& path, std::uint32_t owner) {
  if (::kill(static_cast<pid_t>(owner), 0) == 0 || errno != ESRCH) {
    return;
  }
  constexpr int kLook = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const Descriptor file(::open(path.c_str(), kLook));  // NOLINT(*-vararg)
  struct stat found {};
  if (file && ::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 1 &&
      found.st_uid == ::geteuid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
    ::unlink(path.c_str());
  }
}

Result<RootedFile> open_rooted_file(const std::string& root, const std::string& path) {
  Descriptor file = root.empty() ? Descriptor(::open(path.c_str(), kReadOnly))  // NOLINT(*-vararg)
                                 : open_inside(root, path);
  if (!file) {
    return open_error(errno);
  }
  FileStatus status;
  if (!look_at(file.get(), status)) {
    return open_error(errno);
  }
  if (status.kind != FileKind::kRegular) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "not a regular file"};
  }
  FilesRead::note(status);
  return RootedFile{std::move(file), status.bytes};
}

}  // namespace stackpack::io
