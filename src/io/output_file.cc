#include "io/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stackpack::io {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

std::string descriptor_path(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

// A name beside the target that no other process uses. Only the file system knows it; nothing in
// the file depends on it.
std::string temporary_name(const std::string& target, unsigned attempt) {
  return target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
}

constexpr unsigned kAttempts = 100;

// Until an output that replaces another has the other's permissions, nobody else may read it.
constexpr std::uint32_t kPrivate = 0600;
constexpr std::uint32_t kAllPermissions = 0777;

// Where symbolic links lead: replacing a link would leave what it points to as it was.
std::string resolved(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  std::free(real);
  return result;
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<int> open_nameless_file(const std::string& directory) {
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) {
    return descriptor;
  }
  std::string name = directory + "/.stackpack-XXXXXX";
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot create a temporary file", errno};
  }
  ::unlink(name.c_str());
  return descriptor;
}

OutputFile::OutputFile(int descriptor, std::string target, std::string temporary)
    : descriptor_(descriptor), target_(std::move(target)), temporary_(std::move(temporary)) {
  buffer_.reserve(kBufferBytes);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path,
                                                       const OutputRules& rules) {
  if (const Status allowed = check_output(path, rules); !allowed) {
    return allowed.error();
  }
  if (path == "-") {
    return std::unique_ptr<OutputFile>(new OutputFile(STDOUT_FILENO, "", ""));
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return create_file(path, rules, std::nullopt);
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kIo, kNoOffset, "output is a directory", EISDIR, kOutputPart};
  }
  if (S_ISREG(status.st_mode)) {
    return create_file(resolved(path), rules,
                       static_cast<std::uint32_t>(status.st_mode) & kAllPermissions);
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot open the output", errno, kOutputPart};
  }
  return std::unique_ptr<OutputFile>(new OutputFile(descriptor, "", ""));
}

Result<std::unique_ptr<OutputFile>> OutputFile::create_file(
    const std::string& path, const OutputRules& rules, std::optional<std::uint32_t> kept_mode) {
  // First the object, then what it has to close and to remove.
  std::unique_ptr<OutputFile> file(new OutputFile(-1, path, ""));
  file->rules_ = rules;
  file->kept_mode_ = kept_mode;
  const std::uint32_t mode = kept_mode ? kPrivate : rules.mode;
  file->descriptor_ = ::open(directory_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  for (unsigned attempt = 0; file->descriptor_ < 0 && attempt < kAttempts; ++attempt) {
    std::string name = temporary_name(path, attempt);
    file->descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file->descriptor_ >= 0) {
      file->temporary_ = std::move(name);
    } else if (errno != EEXIST) {
      break;
    }
  }
  if (file->descriptor_ < 0) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot create the output", errno, kOutputPart};
  }
  // Says that somebody is at work on the file, as long as it is open; see remove_leftovers(). Where
  // there are no locks, the process id in the name does.
  static_cast<void>(::flock(file->descriptor_, LOCK_EX | LOCK_NB));
  return file;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) {
    ::close(descriptor_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

Status OutputFile::fail(int os_error, std::string_view what) {
  failed_ = true;
  error_ = Error{ErrorCode::kIo, kNoOffset, what, os_error, kOutputPart};
  return error_;
}

Status OutputFile::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return fail(errno, "cannot write the output");
    }
  }
  buffer_.clear();
  return {};
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  if (failed_) {
    return error_;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  offset_ += bytes.size();
  return buffer_.size() >= kBufferBytes ? flush() : Status{};
}

// Gives the file its temporary name, if it has none.
Status OutputFile::name_it() {
  for (unsigned attempt = 0; temporary_.empty() && attempt < kAttempts; ++attempt) {
    std::string name = temporary_name(target_, attempt);
    if (::linkat(AT_FDCWD, descriptor_path(descriptor_).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);  // allocates nothing: it must not stay without its name
    } else if (errno != EEXIST) {
      break;
    }
  }
  return temporary_.empty() ? fail(errno, "cannot name the output") : Status{};
}

Status OutputFile::commit() {
  if (failed_) {
    return error_;
  }
  if (const Status flushed = flush(); !flushed || target_.empty()) {
    return flushed;
  }
  if (::fsync(descriptor_) != 0) {
    return fail(errno, "cannot sync the output");
  }
  // Somebody else's file may have come to this place since.
  if (const Status allowed = check_output(target_, rules_); !allowed) {
    failed_ = true;
    error_ = allowed.error();
    return error_;
  }
  if (kept_mode_) {
    // A file system without permissions refuses; the output then stays private.
    static_cast<void>(::fchmod(descriptor_, static_cast<mode_t>(*kept_mode_)));
  }
  if (const Status named = name_it(); !named) {
    return named;
  }
  const std::string folder = directory_of(target_);  // no memory may be missing after the rename
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return fail(errno, "cannot rename the output");
  }
  temporary_.clear();
  // The rename itself is durable once the directory is synced; a file system that cannot sync a
  // directory has nothing to sync.
  const int directory = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (directory >= 0) {
    const bool bad = ::fsync(directory) != 0 && errno == EIO;
    ::close(directory);
    if (bad) {
      return fail(EIO, "cannot sync the output's directory");
    }
  }
  failed_ = true;  // nothing may be written after the commit
  error_ = Error{ErrorCode::kUsage, kNoOffset, "output is already committed"};
  return {};
}

}  // namespace stackpack::io
