#include "formats/otlp/message_walk.h"

#include <algorithm>

#include "bytes/byte_cursor.h"

namespace stackpack::otlp {

namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;

}  // namespace

MessageWalk::MessageWalk(io::ByteSource& source, std::uint64_t begin, std::uint64_t end)
    : reader_(source, begin, end, kWindow) {}

Result<bool> MessageWalk::next(Field& field, std::uint64_t end) {
  const std::uint64_t at = offset();
  if (at >= end) {
    return at == end ? Result<bool>(false)
                     : Result<bool>(Error{ErrorCode::kCorrupt, at, "otlp: a message overruns"});
  }
  const auto bytes = reader_.peek(protobuf::kMostHeadBytes);
  if (!bytes) {
    return bytes.error();
  }
  const std::uint64_t left =
      std::min<std::uint64_t>({bytes->size(), protobuf::kMostHeadBytes, end - at});
  bytes::ByteCursor head(bytes->first(static_cast<std::size_t>(left)), 0);
  field = {};
  if (!read_field_head(head, field)) {
    return Error{ErrorCode::kCorrupt, at, "otlp: not a protobuf field"};
  }
  field.begin = at + head.position();
  if (!head.ok() || (field.has_bytes && field.value > end - field.begin)) {
    return Error{ErrorCode::kTruncated, at, "otlp: a field is cut"};
  }
  reader_.consume(static_cast<std::size_t>(head.position()));
  return true;
}

Status MessageWalk::pass_over(std::uint64_t size) {
  const auto passed = reader_.skip(size);
  if (!passed) {
    return passed.error();
  }
  return *passed == size ? Status{}
                         : Status(Error{ErrorCode::kTruncated, offset(), "otlp: file is cut"});
}

Status MessageWalk::skip(const Field& field) {
  return field.has_bytes ? pass_over(field.value) : Status{};
}

Result<std::span<const std::byte>> MessageWalk::load(const Field& field, std::uint64_t most) {
  if (field.value > most) {
    const Status passed = skip(field);
    return passed ? Error{ErrorCode::kLimit, field.begin, "otlp: a message is larger than allowed"}
                  : passed.error();
  }
  bytes_.clear();
  while (bytes_.size() < field.value) {
    const std::size_t wanted = static_cast<std::size_t>(field.value) - bytes_.size();
    const auto part = reader_.peek(std::min(wanted, kWindow));
    if (!part) {
      return part.error();
    }
    if (part->empty()) {
      return Error{ErrorCode::kTruncated, offset(), "otlp: file is cut"};
    }
    const auto taken = part->first(std::min(wanted, part->size()));
    if (taken.size() == wanted && bytes_.empty()) {
      reader_.consume(wanted);  // the window stays until the next call
      return taken;
    }
    bytes_.insert(bytes_.end(), taken.begin(), taken.end());
    reader_.consume(taken.size());
  }
  return std::span<const std::byte>(bytes_);
}

}  // namespace stackpack::otlp
