#include "formats/otlp/otlp_format.h"

#include "formats/otlp/otlp_losses.h"
#include "formats/otlp/otlp_source.h"

namespace stackpack::otlp {

constinit const capture::SourceFormat source_format = {
    .name = "otlp",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_otlp,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::otlp
