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
  ReadOptions options;
  options.control = request.control;
  return read_capture(*bytes.main, sink, options);
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "folded",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_folded,
    .streams = always,
    .read = read,
    .open_directory = nullptr,
    .has_sessions = false,
    .has_magic = false,
    .ending = {},
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::folded
