#include "formats/jfr/jfr_format.h"

#include "formats/jfr/jfr_losses.h"
#include "formats/jfr/jfr_source.h"

namespace stackpack::jfr {

constinit const capture::SourceFormat source_format = {
    .name = "jfr",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_jfr,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .has_magic = true,
    .ending = ".jfr",
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::jfr
