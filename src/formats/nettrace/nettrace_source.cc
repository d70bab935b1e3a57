#include "formats/nettrace/nettrace_source.h"

#include "formats/nettrace/nettrace_losses.h"
#include "formats/nettrace/trace_blocks.h"
#include "formats/nettrace/trace_converter.h"
#include "formats/nettrace/trace_header.h"

namespace stackpack::nettrace {

namespace {

Result<capture::ByteAccount> read_format(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                         const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control, .source_stays = true});
}

}  // namespace

Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  BlockReader blocks(source, sink.losses());
  const Result<TraceHeader> header = blocks.open();
  if (!header) {
    return header.error();
  }
  TraceConverter converter(*header, sink);
  if (options.source_stays && source.seekable()) {
    converter.read_names_again(source);
  }
  Block block;
  while (true) {
    if (options.control.stop_requested()) {
      return Error{ErrorCode::kCancelled, blocks.offset(), "nettrace: cancelled"};
    }
    const Result<bool> more = blocks.next(block);
    if (!more) {
      return more.error();
    }
    if (!*more) {
      break;
    }
    if (const Status taken = converter.block(block); !taken) {
      return taken.error();
    }
    options.control.advance_to(blocks.offset());
  }
  converter.finish();
  return blocks.account();
}

capture::Probe probe(const capture::CaptureHead& head) {
  return capture::probe_of_magic(looks_like_nettrace(head.bytes),
                                 "begins neither with Nettrace nor with !FastSerialization.1");
}

constinit const capture::SourceFormat source_format = {
    .name = "nettrace",
    .probe = probe,
    .streams = capture::always_streams,
    .read = read_format,
    .ending = ".nettrace",
    .has_payloads = true,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::nettrace
