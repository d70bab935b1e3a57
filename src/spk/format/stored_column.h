#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::spk {

/// A column (column_codec.h) as it stands in the content of a block: its place is known and its
/// form checked, its values are not made yet. The content must outlive it.
class StoredColumn {
 public:
  /// The column at the cursor, of `count` values, which is passed over. Sticky failure in `in`.
  /// Cost: none per value in the form of planes; a look at each symbol in that of buckets.
  StoredColumn(bytes::ByteCursor& in, std::size_t count);

  [[nodiscard]] std::size_t count() const { return count_; }

  /// Whether all values are the same without being stored, and which they are.
  [[nodiscard]] bool is_constant() const { return !buckets_ && mask_ == 0; }
  [[nodiscard]] std::uint64_t constant() const { return constant_; }

  /// The values into `values` (replaced). False, and nothing that is of use in `values`: one is
  /// above `limit`, which is at most what Number holds.
  template <typename Number>
  [[nodiscard]] bool unpack(std::uint64_t limit, std::vector<Number>& values) const;

 private:
  static constexpr unsigned kPlanes = 8;

  void open_planes(bytes::ByteCursor& in);
  void open_buckets(bytes::ByteCursor& in, unsigned kept);
  template <typename Number>
  void unpack_planes(Number* values) const;
  template <typename Number>
  void unpack_buckets(Number* values) const;

  std::size_t count_;
  bool buckets_ = false;
  unsigned mask_ = 0;
  unsigned kept_ = 0;
  std::uint64_t constant_ = 0;
  std::array<std::span<const std::byte>, kPlanes> planes_{};
  std::span<const std::byte> symbols_;
  std::span<const std::byte> low_bits_;
};

extern template bool StoredColumn::unpack(std::uint64_t, std::vector<std::uint8_t>&) const;
extern template bool StoredColumn::unpack(std::uint64_t, std::vector<std::uint32_t>&) const;
extern template bool StoredColumn::unpack(std::uint64_t, std::vector<std::uint64_t>&) const;

}  // namespace stackpack::spk
