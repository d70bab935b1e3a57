#include "formats/nettrace/nettrace_format.h"

#include "formats/nettrace/nettrace_losses.h"
#include "formats/nettrace/nettrace_source.h"
#include "formats/nettrace/trace_header.h"

namespace stackpack::nettrace {

namespace {

Result<capture::ByteAccount> read_format(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                         const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control, .source_stays = true});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "nettrace",
    .detect_bytes = kStreamHeadBytes,
    .detect = looks_like_nettrace,
    .streams = capture::always_streams,
    .read = read_format,
    .has_magic = true,
    .ending = ".nettrace",
    .has_payloads = true,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::nettrace
