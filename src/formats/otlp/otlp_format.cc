#include "formats/otlp/otlp_format.h"

#include "formats/otlp/otlp_losses.h"
#include "formats/otlp/otlp_source.h"

namespace stackpack::otlp {

namespace {

// The tables stand after the samples: a message is read twice.
bool never(std::span<const std::byte> /*head*/) {
  return false;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "otlp",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_otlp,
    .streams = never,
    .read = read,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::otlp
