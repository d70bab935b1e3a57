// Numbers and texts of variable size, as .nettrace has them.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"

namespace stackpack::nettrace {

/// Reads numbers of a window; knows why one could not be read.
class VarintReader {
 public:
  explicit VarintReader(bytes::ByteCursor& in) : in_(in) {}

  /// At most 10 bytes.
  std::uint64_t read64() { return checked(in_.read_varint(), true); }

  /// At most 5 bytes, and within 32 bits.
  std::uint32_t read32() {
    const std::size_t before = in_.position();
    const std::uint64_t value = in_.read_varint();
    return static_cast<std::uint32_t>(checked(
        value,
        value <= std::numeric_limits<std::uint32_t>::max() && in_.position() - before <= kMost32));
  }

  /// Whether all numbers were good so far.
  [[nodiscard]] bool ok() const { return in_.ok() && !invalid_; }
  /// Not ok: whether the window ended within a number.
  [[nodiscard]] bool cut() const { return !invalid_; }

 private:
  static constexpr std::size_t kMost32 = 5;

  std::uint64_t checked(std::uint64_t value, bool fits) {
    invalid_ = invalid_ || !fits || (!in_.ok() && in_.remaining() != 0);
    return value;
  }

  bytes::ByteCursor& in_;
  bool invalid_ = false;
};

/// A 32-bit number, or a cursor that has failed.
inline std::uint32_t read_varint32(bytes::ByteCursor& in) {
  VarintReader reader(in);
  const std::uint32_t value = reader.read32();
  if (!reader.ok()) {
    in.seek(in.size());
    in.skip(1);  // fails
  }
  return value;
}

/// A text: varint size, UTF-8. Valid as long as the window.
inline std::string_view read_text8(bytes::ByteCursor& in) {
  const std::uint32_t size = read_varint32(in);
  return bytes::text_of(in.read_bytes(size));
}

/// A text of the universal providers: u16 size, UTF-8.
inline std::string_view read_short_text(bytes::ByteCursor& in) {
  const auto size = in.read<std::uint16_t>();
  return bytes::text_of(in.read_bytes(size));
}

}  // namespace stackpack::nettrace
