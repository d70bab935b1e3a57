#include "formats/folded/folded_format.h"

#include "formats/folded/folded_losses.h"
#include "formats/folded/folded_source.h"

namespace stackpack::folded {

constinit const capture::SourceFormat source_format = {
    .name = "folded",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_folded,
    .streams = capture::always_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::folded
