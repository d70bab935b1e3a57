#include "formats/speedscope/speedscope_format.h"

#include "formats/speedscope/speedscope_losses.h"
#include "formats/speedscope/speedscope_source.h"

namespace stackpack::speedscope {

namespace {

// Names and weights may stand after the samples: a file is read twice.
bool never(std::span<const std::byte> /*head*/) {
  return false;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "speedscope",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_speedscope,
    .streams = never,
    .read = read,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::speedscope
