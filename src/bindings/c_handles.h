// What the handles of the C interface stand for, and how its functions fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/arrow.h"
#include "stackpack/c_api.h"
#include "stackpack/convert.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

struct stackpack_reader {  // NOLINT(readability-identifier-naming): a C name
  std::shared_ptr<const stackpack::Reader> reader;  // Arrow streams may outlive the handle
  std::vector<stackpack::Event> events;
  std::shared_ptr<const stackpack::ArrowTables> tables;
};

namespace stackpack::bindings {

// Keeps the error for stackpack_get_error and returns its status.
stackpack_status fail(const Error& error) noexcept;
// The same of a capture, and as what it was not read. May throw std::bad_alloc.
stackpack_status fail(const Error& error, std::span<const FormatTried> tried);

// Of a call that makes no sense. `what`: a static text.
stackpack_status refuse(std::string_view what) noexcept;

template <typename T>
stackpack_status status_of(const Result<T>& result) {
  return result.has_value() ? STACKPACK_OK : fail(result.error());
}

stackpack_status out_of_memory() noexcept;

// Runs `body`; what it throws, out of memory or a visitor's doing, becomes a status.
template <typename Body>
stackpack_status guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (...) {
    return refuse("a visitor threw an exception");
  }
}

inline stackpack_text text_of(std::string_view text) {
  return {text.empty() ? nullptr : text.data(), text.size()};
}

// What a caller's struct of options has, which may be that of an earlier or a later version; zeros
// for what it has not, and for all of it when `from` is null. False: struct_size is not set.
template <typename Struct>
bool take_options(const Struct* from, Struct& given) noexcept {
  given = {};
  if (from == nullptr) {
    return true;
  }
  if (from->struct_size < sizeof from->struct_size) {
    return false;
  }
  std::memcpy(&given, from, std::min(from->struct_size, sizeof given));
  return true;
}

// Whether hand_over() can write to the caller's struct, which is not null.
template <typename Struct>
bool has_room(const Struct* to) noexcept {
  return to->struct_size >= sizeof to->struct_size + sizeof(std::uint32_t);
}

// Gives `value` to the caller, whose struct may be that of an earlier or a later version: what both
// have is written.
template <typename Struct>
stackpack_status hand_over(Struct* to, Struct value) noexcept {
  if (to == nullptr) {
    return refuse("a null pointer for the result");
  }
  if (!has_room(to)) {
    return refuse("struct_size is not set");
  }
  const std::size_t size = to->struct_size;
  value.struct_size = size;
  std::memcpy(to, &value, std::min(size, sizeof value));
  return STACKPACK_OK;
}

// Rows of a caller's array, whose struct may be that of an earlier or a later version. A later one
// finds 0 in what this library does not know.
template <typename Struct>
class Rows {
 public:
  // `rows` may be null where nothing is put.
  Rows(Struct* rows, std::size_t row_size)
      : bytes_(static_cast<std::byte*>(static_cast<void*>(rows))), row_size_(row_size) {}

  // Whether a row holds what the first version had (no struct has grown yet), and is aligned.
  [[nodiscard]] bool fit() const {
    return row_size_ >= sizeof(Struct) && row_size_ % alignof(Struct) == 0;
  }

  void put(std::size_t row, const Struct& value) {
    std::byte* const to = bytes_ + row * row_size_;
    const std::size_t known = std::min(row_size_, sizeof value);
    std::memcpy(to, &value, known);
    std::memset(to + known, 0, row_size_ - known);
  }

 private:
  std::byte* bytes_;
  std::size_t row_size_;
};

inline constexpr std::string_view kBadRowSize = "row_size is not that of the struct";

// Rows that a visitor is given: memory of ours in the caller's layout.
template <typename Struct>
class RowBuffer {
 public:
  explicit RowBuffer(std::size_t row_size) : row_size_(row_size) {}

  [[nodiscard]] bool fit() const { return Rows<Struct>(nullptr, row_size_).fit(); }

  // `convert` makes a Struct of each value. The rows live until the next call.
  template <typename Values, typename Convert>
  const Struct* fill(const Values& values, Convert convert) {
    memory_.resize((values.size() * row_size_ + sizeof(Struct) - 1) / sizeof(Struct));
    Rows<Struct> rows(memory_.data(), row_size_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows.put(i, convert(values[i]));
    }
    return memory_.data();
  }

 private:
  std::size_t row_size_;
  std::vector<Struct> memory_;  // of Structs for their alignment
};

}  // namespace stackpack::bindings
