#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "io/spill_file.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Texts one after the other: the last ones in memory, those before in a nameless scratch file.
///
/// Failure is sticky: after the first error every read returns it.
/// Memory: `recent_bytes`, and the texts of one call of add(). Threads: one at a time.
class TextLog {
 public:
  TextLog(std::string scratch_directory, std::size_t recent_bytes)
      : file_(std::move(scratch_directory)), recent_bytes_(recent_bytes) {}

  /// Where the first of the texts begins; the others follow it.
  std::uint64_t add(std::initializer_list<std::string_view> texts);

  /// Replaces all characters of `text` by those from `offset` on. Errors: kIo.
  Status read(std::uint64_t offset, std::string& text) const;

 private:
  io::SpillFile file_;
  std::size_t recent_bytes_;
  std::string recent_;
  Status status_;
};

}  // namespace stackpack::scratch
