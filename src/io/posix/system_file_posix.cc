#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace stackpack::io
