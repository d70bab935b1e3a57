#include "io/windows/windows_names.h"

#include <algorithm>
#include <cerrno>

#include <windows.h>

namespace stackpack::io {

namespace {

// Folders must have room for a name of 8.3 within 260 characters.
constexpr std::size_t kShortPath = 240;

struct Meaning {
  DWORD error;
  int number;
};
constexpr Meaning kMeanings[] = {
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_INVALID_NAME, ENOENT},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_SHARING_VIOLATION, EACCES},
    {ERROR_LOCK_VIOLATION, EACCES},
    {ERROR_NETWORK_ACCESS_DENIED, EACCES},
    {ERROR_CURRENT_DIRECTORY, EACCES},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_PIPE_NOT_CONNECTED, EPIPE},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_NOT_SUPPORTED, EINVAL},
    {ERROR_INVALID_FUNCTION, EINVAL},
    {ERROR_INVALID_PARAMETER, EINVAL},
};

int meaning_of(DWORD error) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.error == error) {
      return meaning.number;
    }
  }
  return EIO;
}

}  // namespace

std::wstring to_utf16(std::string_view text) {
  const int size = static_cast<int>(text.size());
  const int count = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0);
  std::wstring wide(static_cast<std::size_t>(count), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), count);
  return wide;
}

std::string to_utf8(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  const int count =
      ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, nullptr, 0, nullptr, nullptr);
  std::string narrow(static_cast<std::size_t>(count), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, narrow.data(), count, nullptr, nullptr);
  return narrow;
}

std::wstring system_path(const std::string& path) {
  std::wstring wide = to_utf16(path);
  // Windows translates nothing in names that begin so, and what is put together here has slashes.
  // A share may be written with slashes as well.
  if (wide.starts_with(L"\\\\?\\") || wide.starts_with(L"\\\\.\\") || wide.starts_with(L"//")) {
    std::replace(wide.begin(), wide.end(), L'/', L'\\');
  }
  if (wide.size() < kShortPath || wide.starts_with(L"\\\\?\\") || wide.starts_with(L"\\\\.\\")) {
    return wide;
  }
  const DWORD room = ::GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr);
  std::wstring full(room, L'\0');
  const DWORD size = ::GetFullPathNameW(wide.c_str(), room, full.data(), nullptr);
  if (size == 0 || size >= room) {
    return wide;
  }
  full.resize(size);
  return full.starts_with(L"\\\\") ? L"\\\\?\\UNC\\" + full.substr(2) : L"\\\\?\\" + full;
}

void set_errno() {
  errno = meaning_of(::GetLastError());
}

}  // namespace stackpack::io
