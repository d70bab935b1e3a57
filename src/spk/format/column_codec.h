// Columns of unsigned integers: how every number of a .spk block is stored that is not a lone
// varint.
//
// zstd finds nothing in bits that are not aligned and little in mixed bytes. There are two forms,
// given by the first byte.
//
// Planes: plane b holds byte b of every value. A plane whose bytes are all the same is not stored,
// so that a constant column costs three bytes whatever its length.
//
//   u8      0
//   u8      mask      bit b: plane b is stored
//   varint  constant  the values' bytes in the planes that are not stored, zero in the others
//   u8[n]   per stored plane, lowest first
//
// Buckets: for numbers without structure but with a distribution, such as differences of times and
// of callstack ids. A value is its magnitude with the `m` bits after its leading one, as a symbol
// that zstd packs well, and the bits below, which nothing packs. Values below 2^(m+1) are their own
// symbols.
//
//   u8      0x10 + m, m = 0 .. 7
//   u8[n]   symbols: value v of w >= m + 2 bits has symbol 2^m * (w - m) + (the m bits after the
//           leading one of v)
//   u8[]    the w - m - 1 lowest bits of each value with w >= m + 2 bits, lowest bit first, from
//   the
//           lowest bit of each byte on; what is left of the last byte is 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"

namespace stackpack::spk {

/// The content of a block under construction: bytes, and where their statistics change.
class BlockContent {
 public:
  bytes::ByteWriter& bytes() { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  /// What follows differs in kind from what was written: it gets entropy tables of its own.
  void cut();

  /// The content in the parts that the cuts make. Valid until the next change.
  [[nodiscard]] std::vector<std::span<const std::byte>> parts() const;

  void clear();

 private:
  bytes::ByteWriter bytes_;
  std::vector<std::size_t> cuts_;
};

/// Appends a column in planes. Long planes are cut off from their neighbours.
void write_column(std::span<const std::uint64_t> values, BlockContent& content);

/// The form of a column of numbers that is likely to be smaller.
struct NumberForm {
  std::uint64_t bits = 0;  ///< about how many it takes, entropy coded
  bool buckets = false;
  unsigned kept = 0;  ///< bits after the leading one, of buckets
};

/// Chooses the form of a column of differences or other numbers without structure. Depends on the
/// values alone.
NumberForm choose_form(std::span<const std::uint64_t> values);

/// Appends a column in a form.
void write_numbers(std::span<const std::uint64_t> values, const NumberForm& form,
                   BlockContent& content);

/// Appends a column in the form that choose_form() chooses.
void write_numbers(std::span<const std::uint64_t> values, BlockContent& content);

/// Reads a column of `count` values into `values` (replaced). Sticky failure in `in`.
/// The caller has bounded `count`: a constant column needs no bytes for its values.
void read_column(bytes::ByteCursor& in, std::size_t count, std::vector<std::uint64_t>& values);

/// A LEB128 number of at most ten bytes. Sticky failure in `in`.
std::uint64_t read_varint(bytes::ByteCursor& in);

}  // namespace stackpack::spk
