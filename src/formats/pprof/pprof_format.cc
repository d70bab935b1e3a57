#include "formats/pprof/pprof_format.h"

#include "formats/pprof/pprof_losses.h"
#include "formats/pprof/pprof_source.h"

namespace stackpack::pprof {

namespace {

// The tables stand after the samples: a profile is read twice.
bool never(std::span<const std::byte> /*head*/) {
  return false;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "pprof",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_pprof,
    .streams = never,
    .read = read,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::pprof
