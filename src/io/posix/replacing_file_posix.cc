#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/directories.h"
#include "io/replacing_file.h"
#include "io/temporary_name.h"

namespace stackpack::io {

namespace {

constexpr unsigned kAttempts = 100;
constexpr const char* kOwnFiles = "/proc/self/fd/";

// A name beside the target that no other process uses. Only the file system knows it; nothing in
// the file depends on it.
std::string own_name(const std::string& target, unsigned attempt) {
  return temporary_name(target, static_cast<std::uint64_t>(::getpid()), attempt);
}

}  // namespace

ReplacingFile::ReplacingFile(std::string target, std::uint32_t mode)
    : target_(std::move(target)), folder_(directory_of(target_)) {
  constexpr int kNameless = O_TMPFILE | O_WRONLY | O_CLOEXEC;
  constexpr int kNamed = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  // Without /proc, as in a bare root folder, a nameless file could not get its name.
  if (::access(kOwnFiles, X_OK) == 0) {
    file_ = Descriptor(::open(folder_.c_str(), kNameless, mode));  // NOLINT(*-vararg)
  }
  for (unsigned attempt = 0; !file_ && attempt < kAttempts; ++attempt) {
    std::string name = own_name(target_, attempt);
    file_ = Descriptor(::open(name.c_str(), kNamed, mode));  // NOLINT(*-vararg)
    if (file_) {
      temporary_ = std::move(name);
    } else if (errno != EEXIST) {
      return;
    }
  }
  if (file_) {
    // Says that somebody is at work on the file, as long as it is open; see remove_leftovers().
    // Where there are no locks, the process id in the name does.
    static_cast<void>(::flock(file_.get(), LOCK_EX | LOCK_NB));
  }
}

ReplacingFile::~ReplacingFile() {
  file_.reset();
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

bool ReplacingFile::sync() {
  return ::fsync(file_.get()) == 0;
}

bool ReplacingFile::name_it() {
  const std::string nameless = kOwnFiles + std::to_string(file_.get());
  for (unsigned attempt = 0; temporary_.empty() && attempt < kAttempts; ++attempt) {
    std::string name = own_name(target_, attempt);
    if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);  // allocates nothing: it must not stay without its name
    } else if (errno != EEXIST) {
      break;
    }
  }
  return !temporary_.empty();
}

std::string_view ReplacingFile::take_place(std::optional<std::uint32_t> kept_mode) {
  if (kept_mode) {
    // A file system without permissions refuses; the output then stays private.
    static_cast<void>(::fchmod(file_.get(), static_cast<mode_t>(*kept_mode)));
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return "cannot rename the output";
  }
  temporary_.clear();
  // The rename itself is durable once the directory is synced; a file system that cannot sync a
  // directory (EINVAL and its like) has nothing to sync.
  const Descriptor directory(::open(folder_.c_str(), O_RDONLY | O_CLOEXEC));  // NOLINT(*-vararg)
  if (directory && ::fsync(directory.get()) != 0 && errno != EINVAL && errno != EOPNOTSUPP &&
      errno != ENOSYS) {
    return "the new file is in place, but may not survive a power cut: its folder cannot be synced";
  }
  return {};
}

}  // namespace stackpack::io
