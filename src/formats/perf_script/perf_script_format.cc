#include "formats/perf_script/perf_script_format.h"

#include "formats/perf_script/perf_script_losses.h"
#include "formats/perf_script/perf_script_source.h"

namespace stackpack::perf_script {

namespace {

bool always(std::span<const std::byte> /*head*/) {
  return true;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "perf-script",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_perf_script,
    .streams = always,
    .read = read,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::perf_script
