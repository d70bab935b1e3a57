#include "formats/pprof/pprof_format.h"

#include "formats/pprof/pprof_losses.h"
#include "formats/pprof/pprof_source.h"

namespace stackpack::pprof {

constinit const capture::SourceFormat source_format = {
    .name = "pprof",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_pprof,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::pprof
