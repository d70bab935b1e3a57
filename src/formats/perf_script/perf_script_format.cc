#include "formats/perf_script/perf_script_format.h"

#include "formats/perf_script/perf_script_losses.h"
#include "formats/perf_script/perf_script_source.h"

namespace stackpack::perf_script {

constinit const capture::SourceFormat source_format = {
    .name = "perf-script",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_perf_script,
    .streams = capture::always_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::perf_script
