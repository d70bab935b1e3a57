#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/read_control.h"
#include "formats/protobuf/message_view.h"
#include "io/buffered_reader.h"
#include "stackpack/result.h"

namespace stackpack::otlp {

/// A field of a message in a file: a number, or bytes that follow.
struct Field : protobuf::FieldHead {
  std::uint64_t begin = 0;  ///< of the bytes
  [[nodiscard]] std::uint64_t end() const { return begin + value; }
};

/// The fields of messages in a file, and of messages in these, one after another. A field with
/// bytes is entered (next() up to its end), loaded or passed over, as the caller likes.
///
/// Memory: a window, and the largest field that is loaded.
/// Errors: those of the source; kCorrupt and kTruncated where the sequence of fields breaks.
class MessageWalk {
 public:
  /// The message in the bytes [begin, end) of a seekable source, which must outlive the object.
  MessageWalk(io::ByteSource& source, std::uint64_t begin, std::uint64_t end);

  /// The next field of the message that ends at `end`; false at the end.
  Result<bool> next(Field& field, std::uint64_t end);

  /// The bytes of the field that next() gave last, valid until the next call. kLimit, and they are
  /// passed over, when there are more than `most`.
  Result<std::span<const std::byte>> load(const Field& field, std::uint64_t most);

  Status skip(const Field& field);

  [[nodiscard]] std::uint64_t offset() const { return reader_.offset(); }

 private:
  Status pass_over(std::uint64_t size);

  io::BufferedReader reader_;
  std::vector<std::byte> bytes_;
};

// How a message is looked at.
using protobuf::bytes;
using protobuf::each_number;
using protobuf::fixed;
using protobuf::message_of;
using protobuf::number;

/// Hands out the fields of the message that ends at `end`, each of which `take` loads, enters or
/// passes over. Errors: those of the walk, of `take`; kCancelled.
template <typename Take>
Status each_field(MessageWalk& walk, std::uint64_t end, const capture::ReadControl& control,
                  Take take) {
  Field field;
  while (true) {
    if (control.stop_requested()) {
      return Error{ErrorCode::kCancelled, walk.offset(), "otlp: cancelled"};
    }
    const Result<bool> more = walk.next(field, end);
    if (!more || !*more) {
      return more ? Status{} : Status(more.error());
    }
    if (const Status status = take(field); !status) {
      return status;
    }
  }
}

/// Most bytes of what is neither a table nor a sample.
inline constexpr std::uint64_t kMostSmallBytes = std::uint64_t{1} << 20;

inline bool is_damage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated;
}

}  // namespace stackpack::otlp
