#include "formats/firefox/firefox_format.h"

#include "formats/firefox/firefox_losses.h"
#include "formats/firefox/firefox_source.h"

namespace stackpack::firefox {

constinit const capture::SourceFormat source_format = {
    .name = "firefox",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_firefox,
    .streams = capture::never_streams,
    .read = capture::read_main<ReadOptions, read_capture>,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::firefox
