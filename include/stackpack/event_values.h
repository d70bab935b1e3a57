// What events say besides their callstack: bytes and types that were allocated, exceptions, garbage
// collections, files that were read, fields of tracepoints. See docs/event-values.md for the kinds,
// docs/format.md, section 7, for how they are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"

namespace stackpack {

/// What a field of an event is.
enum class ValueType : std::uint8_t {
  kNumber = 0,
  kBytes = 1,
  kNanoseconds = 2,
  kAddress = 3,  ///< of memory, or a number that is written in hexadecimal digits
  kReal = 4,     ///< the bits of a double
  kText = 5,     ///< a row of Reader::event_value_texts()
  kSigned = 6,   ///< 2x for a number x from 0 on, -2x - 1 for one below
};
inline constexpr unsigned kValueTypeCount = 7;

/// Most fields of a kind.
inline constexpr std::size_t kMostValueFields = 8;

/// A field that has no value; a text that is not known is row 0, which is empty.
inline constexpr std::uint64_t kNoValue = ~std::uint64_t{0};

struct ValueField {
  std::string name;
  ValueType type = ValueType::kNumber;

  friend bool operator==(const ValueField&, const ValueField&) = default;
};

/// A kind of events with its fields, as the file describes it.
struct ValueSchema {
  std::string name;  ///< "gc_start", "allocation", "disk_io"
  std::vector<ValueField> fields;

  friend bool operator==(const ValueSchema&, const ValueSchema&) = default;

  /// Where the field is; kMostValueFields when there is none of that name.
  [[nodiscard]] std::size_t field(std::string_view wanted) const {
    std::size_t at = 0;
    while (at < fields.size() && fields[at].name != wanted) {
      ++at;
    }
    return at < fields.size() ? at : kMostValueFields;
  }
};

/// One event. Rows are in order of time.
struct EventValue {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t kind = 0;  ///< row of Reader::event_value_kinds()
  StackId stack = kNoStack;
  std::array<std::uint64_t, kMostValueFields> values{};  ///< of the kind's fields; 0 beyond

  friend bool operator==(const EventValue&, const EventValue&) = default;
};

}  // namespace stackpack
