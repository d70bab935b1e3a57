#include "formats/speedscope/speedscope_format.h"

#include "formats/speedscope/speedscope_losses.h"
#include "formats/speedscope/speedscope_source.h"

namespace stackpack::speedscope {

constinit const capture::SourceFormat source_format = {
    .name = "speedscope",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_speedscope,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::speedscope
