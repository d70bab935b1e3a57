#include <cerrno>

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include "io/replacing_file.h"
#include "io/system_file.h"
#include "io/temporary_name.h"
#include "io/windows/windows_names.h"

namespace stackpack::io {

namespace {

constexpr unsigned kMostNames = 100;

}  // namespace

// Permissions are those that the folder hands on: `mode` has no counterpart.
ReplacingFile::ReplacingFile(std::string target, std::uint32_t /*mode*/)
    : target_(std::move(target)) {
  for (unsigned attempt = 0; !file_ && attempt < kMostNames; ++attempt) {
    std::string name = temporary_name(target_, ::GetCurrentProcessId(), attempt);
    const HANDLE handle = ::CreateFileW(system_path(name).c_str(), GENERIC_WRITE, FILE_SHARE_READ,
                                        nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
      set_errno();
      if (errno != EEXIST) {
        return;
      }
      continue;
    }
    temporary_ = std::move(name);
    // NOLINTNEXTLINE: the C library's own conversion
    file_ = Descriptor(::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle),
                                         _O_WRONLY | _O_BINARY | _O_NOINHERIT));
    if (!file_) {
      ::CloseHandle(handle);
      return;
    }
  }
}

ReplacingFile::~ReplacingFile() {
  file_.reset();
  if (!temporary_.empty()) {
    ::DeleteFileW(system_path(temporary_).c_str());
  }
}

bool ReplacingFile::sync() {
  // NOLINTNEXTLINE: the C library's own conversion
  if (::FlushFileBuffers(reinterpret_cast<HANDLE>(::_get_osfhandle(file_.get()))) == 0) {
    set_errno();
    return false;
  }
  return true;
}

bool ReplacingFile::name_it() {
  return !temporary_.empty();
}

std::string_view ReplacingFile::take_place(std::optional<std::uint32_t> /*kept_mode*/) {
  // An open file cannot be moved unless everybody shares it for that.
  file_.reset();
  if (::MoveFileExW(system_path(temporary_).c_str(), system_path(target_).c_str(),
                    MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) == 0) {
    set_errno();
    return "cannot rename the output";
  }
  temporary_.clear();
  return {};
}

}  // namespace stackpack::io
