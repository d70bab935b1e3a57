#include "formats/perf/perf_format.h"

#include "formats/perf/file_header.h"
#include "formats/perf/perf_input.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/perf_source.h"

namespace stackpack::perf {

namespace {

bool is_perf(std::span<const std::byte> head) {
  return detect(head) != Container::kNotPerf;
}

bool is_pipe(std::span<const std::byte> head) {
  return detect(head) == Container::kPipe;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(bytes, sink, {request.control, request.unwinder});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "perf",
    .detect_bytes = kDetectBytes,
    .detect = is_perf,
    .streams = is_pipe,
    .read = read,
    .open_directory = open_directory,
    .has_sessions = false,
    .has_magic = true,
    .ending = {},
    .has_dumps = true,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::perf
