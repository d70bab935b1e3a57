#include <cerrno>

#include <windows.h>

#include "io/desktop.h"
#include "io/directories.h"
#include "io/windows/windows_names.h"

namespace stackpack::io {

// Folders of temporary files belong to a user: others cannot read what is in them.
Result<std::string> make_private_file(std::string_view suffix) {
  constexpr unsigned kMostPrivateFiles = 1000;
  const std::string stem =
      temporary_directory() + "/stackpack-" + std::to_string(::GetCurrentProcessId()) + "-";
  for (unsigned attempt = 0; attempt < kMostPrivateFiles; ++attempt) {
    std::string path = stem + std::to_string(attempt);
    path += suffix;
    const HANDLE handle = ::CreateFileW(system_path(path).c_str(), GENERIC_WRITE, 0, nullptr,
                                        CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle != INVALID_HANDLE_VALUE) {
      ::CloseHandle(handle);
      return path;
    }
    set_errno();
    if (errno != EEXIST) {
      break;
    }
  }
  return Error{ErrorCode::kIo, kNoOffset, "cannot create a temporary file", errno};
}

void remove_private_file(const std::string& path) {
  ::DeleteFileW(system_path(path).c_str());
}

bool open_on_desktop(const std::string& path) {
  constexpr std::intptr_t kLargestFailure = 32;
  const HINSTANCE opened =
      ::ShellExecuteW(nullptr, L"open", to_utf16(path).c_str(), nullptr, nullptr, SW_SHOWNORMAL);
  // NOLINTNEXTLINE: a number in the shape of a handle
  return reinterpret_cast<std::intptr_t>(opened) > kLargestFailure;
}

}  // namespace stackpack::io
