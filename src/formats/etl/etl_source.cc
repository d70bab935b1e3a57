#include "formats/etl/etl_source.h"

#include <algorithm>
#include <vector>

#include "formats/etl/file/buffer_decoder.h"
#include "formats/etl/file/buffer_header.h"
#include "formats/etl/file/buffer_index.h"
#include "formats/etl/file/buffer_merge.h"
#include "formats/etl/file/buffer_order.h"
#include "formats/etl/file/log_file_header.h"
#include "formats/etl/trace_reader.h"
#include "scratch/spill_space.h"

namespace stackpack::etl {

namespace {

// The longest event is 64 KiB, and the log file header is the first event.
constexpr std::size_t kHeadBytes = kBufferHeaderBytes + (std::size_t{64} << 10);

Result<LogFileHeader> read_log_file_header(io::ByteSource& input, std::uint64_t file_size) {
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(file_size, kHeadBytes)));
  if (const Status read = io::read_exactly_at(input, 0, head, "etl: first buffer"); !read) {
    return read.error();
  }
  return parse_log_file_header(head);
}

MergeLimits merge_limits(const ReadOptions& options) {
  MergeLimits limits;
  limits.max_open_bytes = options.max_open_bytes;
  limits.read_ahead = options.read_ahead;
  limits.control = options.control;
  limits.max_whole_bytes = options.max_whole_bytes;
  limits.window_bytes = options.window_bytes;
  limits.scratch_directory = options.scratch_directory;
  return limits;
}

// Gives all events to the reader, part by part.
Status read_events(BufferMerge& merge, TraceReader& reader) {
  std::uint64_t part = 0;
  for (;;) {
    const Result<bool> more = merge.next();
    if (!more) {
      return more.error();
    }
    if (!*more) {
      return reader.finish();
    }
    if (merge.part() != part) {
      part = merge.part();
      if (const Status done = reader.next_part(); !done) {
        return done;
      }
    }
    const Status taken = reader.event(merge.event(), {merge.processor(), merge.file_offset()});
    if (!taken) {
      return taken;
    }
  }
}

}  // namespace

Result<capture::ByteAccount> read_capture(io::ByteSource& input, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  if (!input.seekable() || !input.size().has_value()) {
    return Error{ErrorCode::kUnsupported, 0, "etl: the input must be seekable"};
  }
  capture::ByteAccount account;
  account.total = *input.size();
  const Result<LogFileHeader> header = read_log_file_header(input, account.total);
  if (!header) {
    return header.error();
  }
  capture::LossCounters& losses = sink.losses();
  scratch::SpillSpace space(options.scratch_directory, options.table_bytes);
  TraceReader reader(*header, sink, space, options);
  Result<BufferIndex> index = index_buffers(
      input, *header, {options.max_buffer_bytes, options.control}, space, losses, account);
  if (!index) {
    return index.error();
  }
  BufferDecoder decoder(input, header->named_compression(), options.max_buffer_bytes);
  if (const Status found = decoder.detect_format(index->first_compressed, losses); !found) {
    return found.error();
  }
  if (const Status settled = settle_buffer_order(*index, decoder, options.control, losses);
      !settled) {
    return settled.error();
  }
  sink.system().metadata("etl.compression", name_of(decoder.format()));

  BufferMerge merge(*index, input, decoder, merge_limits(options), losses, account);
  if (const Status done = read_events(merge, reader); !done) {
    return done.error();
  }
  if (options.summary != nullptr) {
    TraceSummary& summary = *options.summary;
    reader.summarize(summary);
    summary.buffers = merge.totals().buffers;
    summary.compressed_buffers = merge.totals().compressed_buffers;
    summary.decoded_bytes = merge.totals().decoded_bytes;
    summary.wpp_messages = merge.totals().messages;
    summary.declared_buffers = header->buffers_written;
    summary.compression = std::string(name_of(decoder.format()));
  }
  return account;
}

}  // namespace stackpack::etl
