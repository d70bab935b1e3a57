#include "formats/pprof/message_stream.h"

#include "bytes/byte_cursor.h"

namespace stackpack::pprof {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr std::size_t kDecodeBytes = std::size_t{1} << 18;
}  // namespace

MessageStream::MessageStream(io::ByteSource& source, std::size_t max_field_bytes)
    : source_(source), max_field_bytes_(max_field_bytes) {}

Status MessageStream::read_more() {
  std::vector<std::byte>& into = gzip_ ? input_ : plain_;
  const std::size_t old_size = into.size();
  into.resize(old_size + kReadBytes);
  const auto count = source_.read_at(offset_, std::span(into).subspan(old_size));
  into.resize(old_size + (count ? *count : 0));
  if (!count) {
    return count.error();
  }
  offset_ += *count;
  at_end_ = *count == 0;
  if (!started_) {
    started_ = true;
    if (codec::looks_like_gzip(plain_)) {
      gzip_ = std::make_unique<codec::GzipDecompressor>();
      input_.swap(plain_);
    }
  }
  return {};
}

// At least `size` bytes in the window, or all that are left.
Status MessageStream::fill(std::size_t size) {
  if (window().size() < size && begin_ != 0) {
    plain_.erase(plain_.begin(), plain_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  while (window().size() < size) {
    if (gzip_ && input_begin_ < input_.size()) {
      std::span<const std::byte> input = std::span(input_).subspan(input_begin_);
      const auto decoded = gzip_->decode(input, kDecodeBytes, plain_);
      input_begin_ = input_.size() - input.size();
      if (!decoded) {
        return Error{decoded.error().code, offset_, decoded.error().what};
      }
      if (*decoded != 0) {
        continue;
      }
    }
    if (at_end_) {
      break;
    }
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(input_begin_));
    input_begin_ = 0;
    if (const Status status = read_more(); !status) {
      return status;
    }
  }
  return {};
}

Result<bool> MessageStream::next(Field& field) {
  const Result<bool> more = read_field(field);
  if (more) {
    consumed_ = offset_ - (gzip_ ? input_.size() - input_begin_ : window().size());
  }
  return more;
}

Result<bool> MessageStream::read_field(Field& field) {
  if (const Status status = fill(protobuf::kMostHeadBytes); !status) {
    return status.error();
  }
  if (window().empty()) {
    const bool whole = !gzip_ || gzip_->at_member_end();
    return whole ? Result<bool>(false)
                 : Result<bool>(Error{ErrorCode::kTruncated, offset_, "pprof: gzip stream is cut"});
  }
  bytes::ByteCursor head(window().first(std::min(window().size(), protobuf::kMostHeadBytes)), 0);
  field = Field{};
  if (!read_field_head(head, field)) {
    return Error{ErrorCode::kCorrupt, offset_, "pprof: not a protobuf field"};
  }
  if (!head.ok()) {
    return Error{ErrorCode::kTruncated, offset_, "pprof: a field is cut"};
  }
  begin_ += head.position();
  if (!field.has_bytes) {
    return true;
  }
  if (field.value > max_field_bytes_) {
    return Error{ErrorCode::kLimit, offset_, "pprof: a message is larger than allowed"};
  }
  const auto size = static_cast<std::size_t>(field.value);
  if (const Status status = fill(size); !status) {
    return status.error();
  }
  if (window().size() < size) {
    return Error{ErrorCode::kTruncated, offset_, "pprof: a message is cut"};
  }
  field.bytes = window().first(size);
  begin_ += size;
  return true;
}

}  // namespace stackpack::pprof
