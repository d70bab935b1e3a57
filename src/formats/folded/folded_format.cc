#include "formats/folded/folded_format.h"

#include "formats/folded/folded_losses.h"
#include "formats/folded/folded_source.h"

namespace stackpack::folded {

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
    .name = "folded",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_folded,
    .streams = always,
    .read = read,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::folded
