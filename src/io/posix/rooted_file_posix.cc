#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/files_read.h"
#include "io/rooted_file.h"

namespace stackpack::io {

namespace {

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
