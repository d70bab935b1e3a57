// The values of one column of an Arrow batch, on their way to whoever asked for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/string_table.h"
#include "stackpack/arrow_c_data.h"
#include "stackpack/result.h"

namespace stackpack::arrow {

/// What a column holds.
enum class ColumnType : std::uint8_t {
  kBool,
  kUInt8,
  kUInt32,
  kUInt64,
  kInt64,
  kDouble,      ///< put as its bits
  kText,        ///< UTF-8
  kDictionary,  ///< UTF-8 texts by number (int32): for texts that repeat
};

/// A column of a table, as its schema has it.
struct Field {
  std::string_view name;  ///< a static text
  ColumnType type = ColumnType::kUInt32;
  bool nullable = false;
  std::string_view unit{};  ///< metadata `unit`; a static text, empty: none
};

/// Bytes that grow. Unlike a vector's, new ones are not written before they are used.
class Buffer {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::byte* data() const { return bytes_.get(); }
  /// Room for `count` bytes at the end, valid until the next call.
  std::byte* extend(std::size_t count) {
    if (capacity_ - size_ < count) {
      grow(count);
    }
    std::byte* const at = bytes_.get() + size_;
    size_ += count;
    return at;
  }
  template <typename Value>
  void append(Value value) {
    std::memcpy(extend(sizeof value), &value, sizeof value);
  }

 private:
  void grow(std::size_t count);

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The texts of a dictionary: shared by the batches that have the same one.
struct Dictionary {
  Buffer ends;  ///< int32, one more than there are texts, the first one 0
  Buffer bytes;
  std::int64_t size = 0;

  Dictionary() { ends.append(std::int32_t{0}); }
  void add(std::string_view text);
};

/// The values of one column of one batch. An array of it takes its memory over.
/// Threads: one at a time.
class Column {
 public:
  explicit Column(ColumnType type) : type_(type) {
    if (type == ColumnType::kText) {
      values_.append(std::int32_t{0});
    }
  }

  // One value, of a column of that type; numbers lose the bits that the type does not have.
  void add_number(std::uint64_t value);
  void add_bool(bool value);
  void add_text(std::string_view text);
  void add_null();

  /// Room for many numbers, which the caller writes before the next call; then end_numbers() says
  /// which of these last rows are null. The type of Number is that of the column; of a dictionary
  /// std::int32_t.
  template <typename Number>
  Number* begin_numbers(std::size_t count) {
    rows_ += count;
    // Values of one type from the start of an allocation on: aligned.
    return static_cast<Number*>(static_cast<void*>(values_.extend(count * sizeof(Number))));
  }
  template <typename Number>
  void end_numbers(const Number* numbers, std::size_t count, const std::optional<Number>& null) {
    const auto nulls = null ? std::count(numbers, numbers + count, *null) : 0;
    const std::size_t before = rows_ - count;
    if (nulls != 0) {
      mark_nulls(before, [&](std::size_t i) { return numbers[i - before] == *null; });
    } else if (!validity_.empty()) {
      mark_valid(before);
    }
  }

  /// The texts that the numbers of a dictionary column stand for, when they are not added one by
  /// one.
  void use_dictionary(std::shared_ptr<const Dictionary> dictionary) {
    dictionary_ = std::move(dictionary);
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Of its texts, so far.
  [[nodiscard]] std::size_t text_bytes() const { return text_bytes_; }

  /// Moves the values to *out, whose release frees them. Throws std::bad_alloc, *out is not written
  /// then.
  void move_to(ArrowArray* out);

 private:
  template <typename IsNull>
  void mark_nulls(std::size_t begin, const IsNull& is_null) {
    mark_valid(begin);
    for (std::size_t i = begin; i < rows_; ++i) {
      if (is_null(i)) {
        clear_bit(i);
      }
    }
  }
  // All rows from `begin` on have values. Makes the bits of those before when there are none.
  void mark_valid(std::size_t begin);
  void clear_bit(std::size_t row);
  void add_row(bool valid);

  ColumnType type_;
  std::size_t rows_ = 0;
  std::size_t nulls_ = 0;
  std::size_t text_bytes_ = 0;
  std::vector<std::uint8_t> validity_;  // bits; none while every row has a value
  std::vector<std::uint8_t> bits_;      // kBool
  Buffer values_;                       // numbers; ends of texts
  Buffer bytes_;                        // of texts
  core::StringTable texts_;             // of a dictionary
  std::shared_ptr<const Dictionary> dictionary_;
};

}  // namespace stackpack::arrow
