#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/descriptor.h"
#include "stackpack/result.h"

namespace stackpack::io {

// What the rooms of files need of the system, and nothing more: it has a side for POSIX and one for
// Windows. Paths are UTF-8, contents are bytes: no line end is ever translated.
//
// Errors:  failures set errno, on Windows too.
// Threads: any; reads and writes at an offset leave the position of the descriptor alone.

/// What may stand between the parts of a path.
#ifdef _WIN32
inline constexpr const char* kSeparators = "/\\:";
#else
inline constexpr const char* kSeparators = "/";
#endif

inline constexpr int kInputDescriptor = 0;
inline constexpr int kOutputDescriptor = 1;
inline constexpr int kErrorDescriptor = 2;

/// A file by what it is, not by its name: links and other spellings of a path give the same.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

enum class FileKind : std::uint8_t { kRegular, kDirectory, kOther };

struct FileStatus {
  FileKind kind = FileKind::kOther;
  FileIdentity identity;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;   ///< since 1970
  std::uint32_t permissions = 0;  ///< as of POSIX; 0666 on Windows, or 0444 for a read-only file
};

/// Whether a FIFO without a writer is waited for.
enum class Fifo : std::uint8_t { kWait, kGoOn };

/// Opens for reading; not open when that fails.
Descriptor open_to_read(const std::string& path, Fifo fifo);

/// Opens a device, a FIFO or a socket for writing; not open when that fails.
Descriptor open_to_write(const std::string& path);

/// Where symbolic links lead; `path` itself when that cannot be found out.
std::string resolved_path(const std::string& path);

/// False when there is no such file, or it cannot be looked at.
bool look_at(int descriptor, FileStatus& status);
bool look_at(const std::string& path, FileStatus& status);

/// Bytes read, at most into.size(); 0 at the end, -1 on failure. Interrupted calls are repeated.
std::int64_t read_some(int descriptor, std::span<std::byte> into);
std::int64_t read_some_at(int descriptor, std::uint64_t offset, std::span<std::byte> into);

/// Writes all of `bytes`, in as many calls as it takes. False on failure.
bool write_all(int descriptor, std::span<const std::byte> bytes);
bool write_all_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes);

/// Whether the descriptor's position is the start of its file: false where there is no position.
bool is_at_start(int descriptor);

/// A second number for the same open file.
Descriptor duplicate(const Descriptor& descriptor);

/// A file without a name in `directory`, to be read and written at offsets; gone when it is closed,
/// however the process ends.
Descriptor open_nameless(const std::string& directory);

/// Names of what is in the directory, without `.` and `..`, in any order. False on failure.
///
/// The standard library's iterator ends the program when memory runs out inside it.
bool list_names(const std::string& directory, std::vector<std::string>& names);

/// Removes a temporary file that process `owner` made, if that process is gone and none holds it.
void remove_if_abandoned(const std::string& path, std::uint32_t owner);

/// A regular file that was opened for reading.
struct RootedFile {
  Descriptor descriptor;
  std::uint64_t bytes = 0;
};

/// Opens the regular file that `path` means inside `root`, as a process would see it to which
/// `root` is the root directory: symbolic links and `..` do not lead out of it. An empty root is
/// that of this process. Nothing is waited for: a FIFO, a device or a directory is refused. Errors:
/// kNotFound, kIo (errno); kUnsupported for what is no regular file.
Result<RootedFile> open_rooted_file(const std::string& root, const std::string& path);

}  // namespace stackpack::io
