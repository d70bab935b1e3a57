#include "formats/etl/etl_source.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "formats/etl/etl_losses.h"
#include "formats/etl/file/buffer_header.h"
#include "formats/etl/file/log_file_header.h"
#include "formats/etl/trace_order.h"
#include "formats/etl/trace_session.h"

namespace stackpack::etl {

namespace {

// The longest event is 64 KiB, and the log file header is the first event.
constexpr std::size_t kHeadBytes = kBufferHeaderBytes + (std::size_t{64} << 10);

Result<LogFileHeader> read_log_file_header(io::ByteSource& input) {
  if (!input.seekable() || !input.size().has_value()) {
    return Error{ErrorCode::kUnsupported, 0, "etl: the input must be seekable"};
  }
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(*input.size(), kHeadBytes)));
  if (const Status read = io::read_exactly_at(input, 0, head, "etl: first buffer"); !read) {
    return read.error();
  }
  return parse_log_file_header(head);
}

}  // namespace

Result<capture::ByteAccount> read_session(std::span<io::ByteSource* const> inputs,
                                          capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  if (inputs.empty()) {
    return Error{ErrorCode::kUsage, kNoOffset, "etl: no input"};
  }
  if (inputs.size() > kMostTraces) {
    return Error{ErrorCode::kLimit, kNoOffset, "etl: more than 64 traces in one session"};
  }
  std::vector<TraceInput> traces;
  std::optional<Error> unreadable;
  capture::ByteAccount unread;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Result<LogFileHeader> header = read_log_file_header(*inputs[i]);
    if (header) {
      traces.push_back({inputs[i], i, std::move(*header)});
      continue;
    }
    Error error = header.error();
    error.part = inputs.size() > 1 ? static_cast<std::uint32_t>(i) : error.part;
    if (error.code == ErrorCode::kIo) {
      return error;
    }
    unreadable = unreadable ? unreadable : error;
    const std::uint64_t bytes = inputs[i]->size().value_or(0);
    unread.total += bytes;
    unread.skipped.add(skip::kUnreadableTraces, bytes);
  }
  if (traces.empty()) {
    return *unreadable;
  }
  const Result<std::size_t> repeated = order_traces(traces);
  if (!repeated) {
    return repeated.error();
  }
  if (unreadable) {
    sink.losses().add(name_of(skip::kUnreadableTraces), LossKind::kDamage,
                      inputs.size() - traces.size() - *repeated);
  }
  if (*repeated != 0) {
    sink.losses().add(loss::kRepeatedTraces, LossKind::kNotice, *repeated);
  }
  Result<capture::ByteAccount> account = TraceSession(std::move(traces), sink, options).run();
  if (account) {
    account->add(unread);
  }
  return account;
}

Result<capture::ByteAccount> read_capture(io::ByteSource& input, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  io::ByteSource* const only = &input;
  return read_session({&only, 1}, sink, options);
}

}  // namespace stackpack::etl
