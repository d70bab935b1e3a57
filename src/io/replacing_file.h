#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/descriptor.h"

namespace stackpack::io {

/// A new file beside a target, which takes the target's place or is gone: nameless where the system
/// can do that, else under a temporary_name().
///
/// Errors:  failures set errno.
/// Threads: one at a time.
class ReplacingFile {
 public:
  ReplacingFile() = default;
  /// Makes the file; `mode`: its permissions, as of POSIX. Not open when that fails.
  ReplacingFile(std::string target, std::uint32_t mode);
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;
  /// Removes the file, unless it took its place.
  ~ReplacingFile();

  [[nodiscard]] int descriptor() const { return file_.get(); }

  /// Waits until the content is on the medium.
  bool sync();

  /// Gives the file its temporary name, if it has none.
  bool name_it();

  /// Moves the file over the target, durably, with the permissions `kept_mode` if there are any.
  /// Returns what failed; empty: nothing did.
  std::string_view take_place(std::optional<std::uint32_t> kept_mode);

 private:
  std::string target_;
  std::string folder_;     // of the target
  std::string temporary_;  // empty: nameless
  Descriptor file_;
};

}  // namespace stackpack::io
