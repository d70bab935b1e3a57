#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::bytes {

static_assert(std::endian::native == std::endian::little, "big-endian hosts are not supported");

enum class ByteOrder : std::uint8_t { kLittle, kBig };

/// The value of `raw` with its bytes in reverse order.
template <std::unsigned_integral T>
constexpr T byte_swap(T raw) {
  if constexpr (sizeof(T) == 1) {
    return raw;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(raw);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(raw);
  } else {
    return __builtin_bswap64(raw);
  }
}

/// Reads fields from bytes that cannot be trusted.
///
/// Shape:  a window [0, size) over memory owned by the caller, and a read position in it.
///         The window knows its offset in the file, so that errors name a file position, and the
///         byte order of the writer.
/// Errors: sticky. The first read past the end marks the cursor failed and returns zero; every
///         later read returns zero and consumes nothing. A parser reads the fields of one
///         structure in a row and asks ok() once, before it acts on any of them.
/// Cost:   one compare per read; no allocation; no virtual call.
/// Thread: a value type; each thread uses its own copy.
class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> window, std::uint64_t file_offset,
             ByteOrder order = ByteOrder::kLittle)
      : window_(window), file_offset_(file_offset), order_(order) {}

  /// Next field of type T, not necessarily aligned.
  // The parsers' inner loops are made of it; in a large unit the compiler runs out of budget before
  // it gets to them.
  template <std::unsigned_integral T>
  [[gnu::always_inline]] T read() {
    T value{};
    if (failed_ || sizeof(T) > remaining()) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, window_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return order_ == ByteOrder::kLittle ? value : byte_swap(value);
  }

  /// Next LEB128 number (ByteWriter::write_varint); failed when it does not fit 64 bits.
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = read<std::uint8_t>();
      const std::uint64_t bits = byte & 0x7FU;
      if (shift == 63 && bits > 1) {
        break;
      }
      value |= bits << shift;
      if ((byte & 0x80U) == 0) {
        return failed_ ? 0 : value;
      }
    }
    failed_ = true;
    return 0;
  }

  /// Next `count` 8-byte values into `out` (out.size() == count on success, untouched on failure).
  /// A count which the window cannot hold fails here, before any memory is reserved for it.
  template <typename Vector>
  void read_u64_array(std::uint64_t count, Vector& out) {
    if (failed_ || count > remaining() / sizeof(std::uint64_t)) {
      fail();
      return;
    }
    const std::span<const std::byte> field =
        take(static_cast<std::size_t>(count) * sizeof(std::uint64_t));
    out.resize(static_cast<std::size_t>(count));
    if (!field.empty()) {  // memcpy wants non-null pointers even for zero bytes
      std::memcpy(out.data(), field.data(), field.size());
    }
    if (order_ == ByteOrder::kBig) {
      std::transform(out.begin(), out.end(), out.begin(),
                     [](std::uint64_t value) { return byte_swap(value); });
    }
  }

  /// The same for rows that are made of 8-byte words and nothing else.
  template <typename Row>
  void read_rows(std::uint64_t count, std::vector<Row>& out) {
    static_assert(std::has_unique_object_representations_v<Row> && sizeof(Row) % 8 == 0);
    if (failed_ || count > remaining() / sizeof(Row)) {
      fail();
      return;
    }
    out.resize(static_cast<std::size_t>(count));
    const std::span<const std::byte> field = take(out.size() * sizeof(Row));
    if (!field.empty()) {
      std::memcpy(out.data(), field.data(), field.size());
    }
    if (order() == ByteOrder::kBig) {
      for (Row& row : out) {
        auto words = std::bit_cast<std::array<std::uint64_t, sizeof(Row) / 8>>(row);
        for (std::uint64_t& word : words) {
          word = byte_swap(word);
        }
        row = std::bit_cast<Row>(words);
      }
    }
  }

  /// Next `size` bytes as they are; empty and failed if the window has fewer.
  std::span<const std::byte> read_bytes(std::uint64_t size) {
    return size <= remaining() ? take(static_cast<std::size_t>(size)) : fail();
  }

  /// Text up to the first NUL, which is consumed, too; or up to the end of the window.
  std::string_view read_c_string() {
    if (failed_ || remaining() == 0) {
      return {};
    }
    const std::span<const std::byte> rest = window_.subspan(position_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    const auto length = static_cast<std::size_t>(end - rest.begin());
    position_ += std::min(length + 1, rest.size());
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes to chars, the one place
    return {reinterpret_cast<const char*>(rest.data()), length};
  }

  /// A cursor over the next `size` bytes alone; failed if the window has fewer.
  ByteCursor sub(std::uint64_t size) {
    const std::uint64_t start = offset();
    const std::span<const std::byte> part =
        size <= remaining() ? take(static_cast<std::size_t>(size)) : fail();
    ByteCursor child(part, start, order_);
    child.failed_ = failed_;
    return child;
  }

  void skip(std::uint64_t size) {
    if (size > remaining()) {
      fail();
    } else {
      take(static_cast<std::size_t>(size));
    }
  }

  /// Moves to `position` bytes from the start of the window.
  void seek(std::uint64_t position) {
    if (position > window_.size()) {
      fail();
    } else {
      position_ = static_cast<std::size_t>(position);
    }
  }

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] std::size_t size() const { return window_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return window_.size() - position_; }
  [[nodiscard]] std::uint64_t offset() const { return file_offset_ + position_; }
  [[nodiscard]] ByteOrder order() const { return order_; }

  /// The bytes from the position to the end of the window; nothing is consumed.
  [[nodiscard]] std::span<const std::byte> rest() const { return window_.subspan(position_); }

  [[nodiscard]] Error truncated(std::string_view what) const {
    return {ErrorCode::kTruncated, offset(), what};
  }
  [[nodiscard]] Error corrupt(std::string_view what) const {
    return {ErrorCode::kCorrupt, offset(), what};
  }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (failed_ || size > remaining()) {
      return fail();
    }
    const std::span<const std::byte> field = window_.subspan(position_, size);
    position_ += size;
    return field;
  }

  std::span<const std::byte> fail() {
    failed_ = true;
    return {};
  }

  std::span<const std::byte> window_;
  std::size_t position_ = 0;
  std::uint64_t file_offset_;
  ByteOrder order_;
  bool failed_ = false;
};

/// a + b, or false when it does not fit.
[[nodiscard]] inline bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum);
}

/// a * b, or false when it does not fit.
[[nodiscard]] inline bool checked_mul(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

}  // namespace stackpack::bytes
