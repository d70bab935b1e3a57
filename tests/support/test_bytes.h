// Bytes from integers: the one helper with which tests write binary input.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::test {

/// Appends fields in one byte order.
class TestBytes {
 public:
  explicit TestBytes(bytes::ByteOrder order = bytes::ByteOrder::kLittle) : order_(order) {}

  template <std::unsigned_integral T>
  TestBytes& put(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t shift = 8 * (order_ == bytes::ByteOrder::kLittle ? i : sizeof(T) - 1 - i);
      bytes.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
  }
  TestBytes& u8(std::uint8_t value) { return put(value); }
  TestBytes& u16(std::uint16_t value) { return put(value); }
  TestBytes& u32(std::uint32_t value) { return put(value); }
  TestBytes& u64(std::uint64_t value) { return put(value); }
  TestBytes& text(std::string_view value) {
    for (const char c : value) {
      bytes.push_back(static_cast<std::byte>(c));
    }
    return *this;
  }
  TestBytes& append(std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  TestBytes& zeros(std::size_t count) {
    bytes.resize(bytes.size() + count);
    return *this;
  }
  TestBytes& pad_to(std::size_t alignment) {
    while (bytes.size() % alignment != 0) {
      bytes.push_back(std::byte{0});
    }
    return *this;
  }

  std::vector<std::byte> bytes;

 private:
  bytes::ByteOrder order_;
};

/// The content of a file; empty when it cannot be read.
inline std::vector<std::byte> read_test_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

}  // namespace stackpack::test
