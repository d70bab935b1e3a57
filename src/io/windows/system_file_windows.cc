#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include "io/files_read.h"
#include "io/system_file.h"
#include "io/utf8_path.h"
#include "io/windows/windows_names.h"

namespace stackpack::io {

namespace {

// Others may read, write, rename and remove the file meanwhile, as on the other systems.
constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr unsigned kAttempts = 100;

HANDLE handle_of(int descriptor) {
  // NOLINTNEXTLINE: the C library's own conversion
  return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

Descriptor descriptor_of(HANDLE handle, int flags) {
  if (handle == INVALID_HANDLE_VALUE) {
    set_errno();
    return {};
  }
  // NOLINTNEXTLINE: the C library's own conversion
  const auto number = reinterpret_cast<std::intptr_t>(handle);
  Descriptor file(::_open_osfhandle(number, flags | _O_BINARY | _O_NOINHERIT));
  if (!file) {
    ::CloseHandle(handle);
  }
  return file;
}

std::uint64_t join(DWORD high, DWORD low) {
  return std::uint64_t{high} << 32 | low;
}

// Windows counts units of 100 ns since 1601.
std::int64_t unix_ns(const FILETIME& time) {
  constexpr std::int64_t kSecondsFrom1601 = 11'644'473'600;
  constexpr std::int64_t kUnitsPerSecond = 10'000'000;
  const auto units = static_cast<std::int64_t>(join(time.dwHighDateTime, time.dwLowDateTime));
  return (units - kSecondsFrom1601 * kUnitsPerSecond) * 100;
}

bool look_at_handle(HANDLE handle, FileStatus& status) {
  if (::GetFileType(handle) != FILE_TYPE_DISK) {
    status = {};
    return handle != INVALID_HANDLE_VALUE;
  }
  BY_HANDLE_FILE_INFORMATION found{};
  if (::GetFileInformationByHandle(handle, &found) == 0) {
    set_errno();
    return false;
  }
  constexpr std::uint32_t kReadWrite = 0666;
  constexpr std::uint32_t kReadOnly = 0444;
  const bool directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  status = {directory ? FileKind::kDirectory : FileKind::kRegular,
            {found.dwVolumeSerialNumber, join(found.nFileIndexHigh, found.nFileIndexLow)},
            join(found.nFileSizeHigh, found.nFileSizeLow),
            unix_ns(found.ftLastWriteTime),
            (found.dwFileAttributes & FILE_ATTRIBUTE_READONLY) != 0 ? kReadOnly : kReadWrite};
  return true;
}

// The end of a file or of a pipe that was closed at the other end.
bool is_end(DWORD error) {
  return error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE;
}

DWORD step_of(std::size_t size) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
  return static_cast<DWORD>(std::min(size, kMostAtOnce));
}

OVERLAPPED at_offset(std::uint64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

// Calls at an offset move the position of the file here. It goes back to the start, where the next
// one that reads the same descriptor begins.
void rewind(int descriptor) {
  ::SetFilePointerEx(handle_of(descriptor), LARGE_INTEGER{}, nullptr, FILE_BEGIN);
}

std::int64_t read_from(int descriptor, std::span<std::byte> into, OVERLAPPED* place) {
  DWORD count = 0;
  if (::ReadFile(handle_of(descriptor), into.data(), step_of(into.size()), &count, place) == 0) {
    if (is_end(::GetLastError())) {
      return 0;
    }
    set_errno();
    errno = errno == EACCES ? EBADF : errno;  // it was not opened to be read
    return -1;
  }
  return count;
}

// Where `path` leads inside `root`; empty: out of it. Links are followed by the system, and what
// they lead to is looked at again.
std::string inside(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path below = path_of(path).relative_path().lexically_normal();
  if (below.empty() || *below.begin() == "..") {
    return {};
  }
  std::string base = resolved_path(root);
  const std::string full = resolved_path(text_of(path_of(base) / below));
  if (base.ends_with('\\') || base.ends_with('/')) {
    base.pop_back();  // of a drive
  }
  const bool within = full.size() > base.size() && full.starts_with(base) &&
                      std::string("/\\").find(full[base.size()]) != std::string::npos;
  return within ? full : std::string();
}

}  // namespace

void Descriptor::reset() {
  if (number_ >= 0) {
    ::_close(std::exchange(number_, -1));
  }
}

Descriptor open_to_read(const std::string& path, Fifo /*fifo*/) {
  // With the flag directories open as well, and are then known for what they are.
  return descriptor_of(
      ::CreateFileW(system_path(path).c_str(), GENERIC_READ, kShareAll, nullptr, OPEN_EXISTING,
                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, nullptr),
      _O_RDONLY);
}

Descriptor open_to_write(const std::string& path) {
  return descriptor_of(::CreateFileW(system_path(path).c_str(), GENERIC_WRITE, kShareAll, nullptr,
                                     OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr),
                       _O_WRONLY);
}

std::string resolved_path(const std::string& path) {
  const Descriptor file = open_to_read(path, Fifo::kGoOn);
  if (!file) {
    return path;
  }
  const HANDLE handle = handle_of(file.get());
  const DWORD room = ::GetFinalPathNameByHandleW(handle, nullptr, 0, FILE_NAME_NORMALIZED);
  std::wstring full(room, L'\0');
  const DWORD size = ::GetFinalPathNameByHandleW(handle, full.data(), room, FILE_NAME_NORMALIZED);
  if (size == 0 || size >= room) {
    return path;
  }
  full.resize(size);
  // As others write it: with slashes in it the long form would be another path.
  constexpr std::wstring_view kLong = L"\\\\?\\";
  constexpr std::wstring_view kLongShare = L"\\\\?\\UNC\\";
  if (full.starts_with(kLongShare)) {
    return "\\\\" + to_utf8(full.substr(kLongShare.size()));
  }
  return to_utf8(full.starts_with(kLong) ? full.substr(kLong.size()) : full);
}

bool look_at(int descriptor, FileStatus& status) {
  const HANDLE handle = handle_of(descriptor);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = EBADF;
    return false;
  }
  return look_at_handle(handle, status);
}

bool look_at(const std::string& path, FileStatus& status) {
  const HANDLE handle = ::CreateFileW(system_path(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll,
                                      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    set_errno();
    return false;
  }
  const bool done = look_at_handle(handle, status);
  ::CloseHandle(handle);
  return done;
}

std::int64_t read_some(int descriptor, std::span<std::byte> into) {
  return read_from(descriptor, into, nullptr);
}

std::int64_t read_some_at(int descriptor, std::uint64_t offset, std::span<std::byte> into) {
  OVERLAPPED place = at_offset(offset);
  const std::int64_t count = read_from(descriptor, into, &place);
  const int failure = errno;
  rewind(descriptor);
  errno = failure;
  return count;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    DWORD count = 0;
    if (::WriteFile(handle_of(descriptor), bytes.data(), step_of(bytes.size()), &count, nullptr) ==
        0) {
      set_errno();
      return false;
    }
    bytes = bytes.subspan(count);
  }
  return true;
}

bool write_all_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    OVERLAPPED place = at_offset(offset);
    DWORD count = 0;
    if (::WriteFile(handle_of(descriptor), bytes.data(), step_of(bytes.size()), &count, &place) ==
        0) {
      set_errno();
      return false;
    }
    bytes = bytes.subspan(count);
    offset += count;
  }
  rewind(descriptor);
  return true;
}

bool is_at_start(int descriptor) {
  LARGE_INTEGER place{};
  return ::SetFilePointerEx(handle_of(descriptor), place, &place, FILE_CURRENT) != 0 &&
         place.QuadPart == 0;
}

Descriptor duplicate(const Descriptor& descriptor) {
  return Descriptor(::_dup(descriptor.get()));
}

Descriptor open_nameless(const std::string& directory) {
  const std::string name = directory + "/.stackpack-" + std::to_string(::GetCurrentProcessId());
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    // Removed by the system when its only handle is closed, also at the end of the process.
    const HANDLE handle = ::CreateFileW(
        system_path(name + "-" + std::to_string(::GetTickCount64()) + "-" + std::to_string(attempt))
            .c_str(),
        GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_DELETE, nullptr, CREATE_NEW,
        FILE_ATTRIBUTE_TEMPORARY | FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
    if (handle != INVALID_HANDLE_VALUE || ::GetLastError() != ERROR_FILE_EXISTS) {
      return descriptor_of(handle, _O_RDWR);
    }
  }
  errno = EEXIST;
  return {};
}

bool list_names(const std::string& directory, std::vector<std::string>& names) {
  WIN32_FIND_DATAW found{};
  const HANDLE search =
      ::FindFirstFileExW((system_path(directory) + L"\\*").c_str(), FindExInfoBasic, &found,
                         FindExSearchNameMatch, nullptr, FIND_FIRST_EX_LARGE_FETCH);
  if (search == INVALID_HANDLE_VALUE) {
    set_errno();
    FileStatus status;
    const int failure = errno;
    errno = look_at(directory, status) && status.kind != FileKind::kDirectory ? ENOTDIR : failure;
    return false;
  }
  try {
    do {
      const std::wstring_view name(static_cast<const wchar_t*>(found.cFileName));
      if (name != L"." && name != L"..") {
        names.push_back(to_utf8(name));
      }
    } while (::FindNextFileW(search, &found) != 0);
  } catch (...) {
    ::FindClose(search);
    throw;
  }
  const bool whole = ::GetLastError() == ERROR_NO_MORE_FILES;
  if (!whole) {
    set_errno();
  }
  ::FindClose(search);
  return whole;
}

void remove_if_abandoned(const std::string& path, std::uint32_t owner) {
  const HANDLE process = ::OpenProcess(SYNCHRONIZE, FALSE, owner);
  if (process != nullptr) {
    const bool runs = ::WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    ::CloseHandle(process);
    if (runs) {
      return;
    }
  } else if (::GetLastError() != ERROR_INVALID_PARAMETER) {
    return;  // it is there, but not ours to look at
  }
  // Who writes to it shares it with nobody: then this fails.
  ::DeleteFileW(system_path(path).c_str());
}

Result<RootedFile> open_rooted_file(const std::string& root, const std::string& path) {
  const std::string place = root.empty() ? path : inside(root, path);
  Descriptor file = place.empty() ? Descriptor() : open_to_read(place, Fifo::kGoOn);
  FileStatus status;
  if (!file || !look_at(file.get(), status)) {
    const bool missing = place.empty() || errno == ENOENT || errno == ENOTDIR;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kIo, kNoOffset, "cannot open", errno};
  }
  if (status.kind != FileKind::kRegular) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "not a regular file"};
  }
  FilesRead::note(status);
  return RootedFile{std::move(file), status.bytes};
}

}  // namespace stackpack::io
