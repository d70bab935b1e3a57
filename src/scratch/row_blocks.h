// Rows on their way to a scratch file and back, in blocks of columns of differences.
//
// A block: u32 bytes after it; for each word (4 bytes) of a row two bits, the width of its column;
// the first row; then column by column, word minus the one in the row before, zigzag coded, in
// none, 1, 2 or 4 bytes, as the widest of the column needs. Neighbours in a sorted run are alike:
// most columns have one byte a row, or none. Read by the process that wrote it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace stackpack::scratch {

/// Packs blocks of at most kRows rows, and unpacks them.
template <typename Row>
class RowBlocks {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % sizeof(std::uint32_t) == 0);
  static_assert(std::endian::native == std::endian::little);

  static constexpr std::size_t kWords = sizeof(Row) / sizeof(std::uint32_t);
  static constexpr std::size_t kWidthBytes = (kWords + 3) / 4;
  static constexpr std::size_t kHeadBytes = sizeof(std::uint32_t) + kWidthBytes + sizeof(Row);

 public:
  static constexpr std::size_t kRows = 64;
  static constexpr std::size_t kMostBytes = kHeadBytes + (kRows - 1) * sizeof(Row);
  static constexpr std::size_t kSizeBytes = sizeof(std::uint32_t);

  /// Appends a block of `count` rows, of which `row_at(i)` gives the i-th.
  template <typename RowAt>
  static void pack(std::size_t count, const RowAt& row_at, std::vector<std::byte>& out) {
    std::array<Words, kRows> rows;
    Words differing{};
    for (std::size_t i = 0; i < count; ++i) {
      const Row& row = row_at(i);
      std::memcpy(rows[i].data(), static_cast<const void*>(&row), sizeof(Row));
      for (std::size_t word = 0; word < kWords; ++word) {
        differing[word] |= rows[i][word] ^ rows[0][word];
      }
    }
    // Not in `out`, which would clear room for the largest block each time.
    std::array<std::byte, kMostBytes> block;
    std::byte* const head = block.data();
    std::memset(head + kSizeBytes, 0, kWidthBytes);
    std::memcpy(head + kSizeBytes + kWidthBytes, rows[0].data(), sizeof(Row));
    std::byte* at = head + kHeadBytes;
    for (std::size_t word = 0; word < kWords; ++word) {
      if (differing[word] != 0) {
        const unsigned code = pack_column({rows.data(), count}, word, at);
        head[kSizeBytes + word / 4] |= static_cast<std::byte>(code << word % 4 * 2);
      }
    }
    const auto size = static_cast<std::uint32_t>(static_cast<std::size_t>(at - head) - kSizeBytes);
    std::memcpy(head, &size, sizeof size);
    out.insert(out.end(), head, at);
  }

  /// Bytes of the block that begins here, which has at least kSizeBytes.
  static std::size_t size_of(const std::byte* block) {
    std::uint32_t size = 0;
    std::memcpy(&size, block, sizeof size);
    return kSizeBytes + size;
  }

  /// Replaces `rows` with the `count` rows of a block.
  static void unpack(const std::byte* block, std::size_t count, std::vector<Row>& rows) {
    std::array<Words, kRows> words;
    std::memcpy(words[0].data(), block + kSizeBytes + kWidthBytes, sizeof(Row));
    std::fill(words.begin() + 1, words.begin() + static_cast<std::ptrdiff_t>(count), words[0]);
    const std::byte* at = block + kHeadBytes;
    for (std::size_t word = 0; word < kWords; ++word) {
      const auto widths = std::to_integer<unsigned>(block[kSizeBytes + word / 4]);
      switch (widths >> word % 4 * 2 & 3) {
        case 1:
          unpack_column<std::uint8_t>({words.data(), count}, word, at);
          break;
        case 2:
          unpack_column<std::uint16_t>({words.data(), count}, word, at);
          break;
        case 3:
          unpack_column<std::uint32_t>({words.data(), count}, word, at);
          break;
        default:
          break;
      }
    }
    rows.resize(count);
    std::memcpy(static_cast<void*>(rows.data()), words.data(), count * sizeof(Row));
  }

 private:
  using Words = std::array<std::uint32_t, kWords>;

  // The code of the column's width.
  static unsigned pack_column(std::span<const Words> rows, std::size_t word, std::byte*& at) {
    std::array<std::uint32_t, kRows> steps;
    std::uint32_t all = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const std::uint32_t step = rows[i][word] - rows[i - 1][word];
      steps[i] = step << 1 ^ (0U - (step >> 31));
      all |= steps[i];
    }
    const std::span<const std::uint32_t> kept = std::span(steps).subspan(1, rows.size() - 1);
    if (all <= 0xFF) {
      write_column<std::uint8_t>(kept, at);
      return 1;
    }
    if (all <= 0xFFFF) {
      write_column<std::uint16_t>(kept, at);
      return 2;
    }
    write_column<std::uint32_t>(kept, at);
    return 3;
  }

  template <typename Stored>
  static void write_column(std::span<const std::uint32_t> steps, std::byte*& at) {
    for (const std::uint32_t step : steps) {
      const auto stored = static_cast<Stored>(step);
      std::memcpy(at, &stored, sizeof stored);
      at += sizeof stored;
    }
  }

  template <typename Stored>
  static void unpack_column(std::span<Words> rows, std::size_t word, const std::byte*& at) {
    std::uint32_t last = rows[0][word];
    for (std::size_t i = 1; i < rows.size(); ++i) {
      Stored stored = 0;
      std::memcpy(&stored, at, sizeof stored);
      at += sizeof stored;
      const std::uint32_t step = stored;
      last += step >> 1 ^ (0U - (step & 1));
      rows[i][word] = last;
    }
  }
};

}  // namespace stackpack::scratch
