#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/byte_source.h"

namespace stackpack::app {

/// How many of the recorded return addresses of an image follow a call in a file.
struct CallerCheck {
  std::size_t looked_at = 0;
  std::size_t after_calls = 0;

  /// Whether the file is not the one that ran. Of a foreign file about one return address in 30
  /// follows a call by chance; of the right one all do but those that a walk without frame pointers
  /// made up. Few addresses speak neither for a file nor against it.
  [[nodiscard]] bool speaks_against() const;
};

/// `before_returns`: offsets in the file of the byte before each return address, ascending.
/// `machine`: EM_* of the file. At most 256 of the addresses are looked at, evenly spread; those
/// that the file does not reach follow no call. Of machines whose calls are not known none is
/// looked at.
CallerCheck check_callers(io::ByteSource& file, std::uint16_t machine,
                          std::span<const std::uint64_t> before_returns);

}  // namespace stackpack::app
