// Reading Arrow streams in tests, as a consumer would.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/arrow_c_data.h"

namespace stackpack::test {

/// A stream that is released in the end. Copies nothing.
struct OwnedStream {
  ArrowArrayStream stream{};
  OwnedStream() = default;
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream() {
    if (stream.release != nullptr) {
      stream.release(&stream);
    }
  }
};

/// A value as text; nothing for null.
using Cell = std::optional<std::string>;

template <typename Number>
Number arrow_number(const ArrowArray& array, std::int64_t row) {
  Number number{};
  std::memcpy(
      &number,
      static_cast<const char*>(array.buffers[1]) + static_cast<std::size_t>(row) * sizeof(Number),
      sizeof number);
  return number;
}

inline bool arrow_bit(const void* bits, std::int64_t row) {
  return (static_cast<const std::uint8_t*>(bits)[row / 8] >> (row % 8) & 1) != 0;
}

inline std::string arrow_text(const ArrowArray& array, std::int64_t row) {
  const auto begin = arrow_number<std::int32_t>(array, row);
  const auto end = arrow_number<std::int32_t>(array, row + 1);
  return {static_cast<const char*>(array.buffers[2]) + begin,
          static_cast<std::size_t>(end - begin)};
}

inline Cell arrow_cell(const ArrowSchema& schema, const ArrowArray& array, std::int64_t row) {
  if (array.null_count != 0 && !arrow_bit(array.buffers[0], row)) {
    return std::nullopt;
  }
  switch (schema.format[0]) {
    case 'b':
      return arrow_bit(array.buffers[1], row) ? "true" : "false";
    case 'C':
      return std::to_string(arrow_number<std::uint8_t>(array, row));
    case 'I':
      return std::to_string(arrow_number<std::uint32_t>(array, row));
    case 'L':
      return std::to_string(arrow_number<std::uint64_t>(array, row));
    case 'l':
      return std::to_string(arrow_number<std::int64_t>(array, row));
    case 'g':
      return std::to_string(arrow_number<double>(array, row));
    case 'i': {
      const auto number = arrow_number<std::int32_t>(array, row);
      REQUIRE(number >= 0);
      REQUIRE(number < array.dictionary->length);
      return arrow_text(*array.dictionary, number);
    }
    default:
      return arrow_text(array, row);
  }
}

/// A whole table, by columns.
struct ArrowContent {
  std::map<std::string, std::vector<Cell>> columns;
  std::vector<std::string> names;  ///< of the columns, in their order
  std::vector<std::int64_t> batches;
  std::string error;  ///< of the stream; empty: all is well

  [[nodiscard]] std::size_t rows() const {
    return columns.empty() ? 0 : columns.begin()->second.size();
  }
  [[nodiscard]] std::string at(const std::string& column, std::size_t row) const {
    return columns.at(column).at(row).value_or("null");
  }
};

inline ArrowContent read_arrow(ArrowArrayStream& stream) {
  ArrowContent content;
  ArrowSchema schema{};
  REQUIRE(stream.get_schema(&stream, &schema) == 0);
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    content.names.emplace_back(schema.children[i]->name);
    content.columns[content.names.back()];
  }
  while (true) {
    ArrowArray batch{};
    if (stream.get_next(&stream, &batch) != 0) {
      content.error = stream.get_last_error(&stream);
      break;
    }
    if (batch.release == nullptr) {
      break;
    }
    content.batches.push_back(batch.length);
    REQUIRE(batch.n_children == schema.n_children);
    for (std::int64_t i = 0; i < batch.n_children; ++i) {
      const ArrowSchema& column = *schema.children[i];
      REQUIRE(batch.children[i]->length == batch.length);
      REQUIRE(((column.flags & ARROW_FLAG_NULLABLE) != 0 || batch.children[i]->null_count == 0));
      for (std::int64_t row = 0; row < batch.length; ++row) {
        content.columns[column.name].push_back(arrow_cell(column, *batch.children[i], row));
      }
    }
    batch.release(&batch);
  }
  schema.release(&schema);
  return content;
}

}  // namespace stackpack::test
