#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "stackpack/result.h"

namespace stackpack::symbolize {

/// The metadata of a .NET assembly, as far as it names methods.
///
/// Memory: its bytes, and 12 bytes for each type.
/// Source: ECMA-335, partition II, 22 (tables) and 24 (their layout).
class CliMetadata {
 public:
  /// `bytes`: from the root of the metadata on.
  /// Errors: kUnsupported: no metadata, or such that is being edited; kCorrupt.
  static Result<CliMetadata> read(std::vector<std::byte> bytes);

  [[nodiscard]] std::uint32_t method_count() const { return tables_[kMethods].rows; }

  /// "Namespace.Type+Nested.Method" of a method by the number of its row, from 1 on; empty: there
  /// is none, or it is too long. The bytes of the texts are not looked at.
  [[nodiscard]] std::string method_name(std::uint32_t row) const;

 private:
  static constexpr std::size_t kTypes = 0x02;
  static constexpr std::size_t kMethods = 0x06;
  static constexpr std::size_t kNestedTypes = 0x29;
  static constexpr std::size_t kTables = 0x40;

  struct Table {
    std::uint32_t rows = 0;
    std::uint64_t begin = 0;  // in bytes_, as are the heaps
    std::uint32_t row_bytes = 0;
  };
  struct Heap {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };

  Status find_streams();
  Status find_tables();
  void find_types();
  [[nodiscard]] bytes::ByteCursor cursor_at(std::uint64_t position) const;
  [[nodiscard]] std::uint32_t column_bytes(std::uint8_t column) const;
  [[nodiscard]] std::uint32_t row_bytes(std::size_t table) const;
  [[nodiscard]] std::uint32_t cell(std::size_t table, std::uint32_t row, std::size_t column) const;
  [[nodiscard]] std::string_view text(std::uint32_t offset) const;
  [[nodiscard]] std::string type_name(std::uint32_t row) const;

  std::vector<std::byte> bytes_;
  Heap table_stream_;
  Heap strings_;
  std::uint8_t wide_heaps_ = 0;  // bits: texts, GUIDs, blobs
  std::array<Table, kTables> tables_{};
  std::vector<std::uint32_t> first_methods_;                     // of each type
  std::vector<std::pair<std::uint32_t, std::uint32_t>> nested_;  // a type, and the one around it
};

}  // namespace stackpack::symbolize
