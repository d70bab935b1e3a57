#include "formats/firefox/firefox_format.h"

#include "formats/firefox/firefox_losses.h"
#include "formats/firefox/firefox_source.h"

namespace stackpack::firefox {

namespace {

// The tables stand after the samples: all of a file is read before its samples are made.
bool never(std::span<const std::byte> /*head*/) {
  return false;
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  return read_capture(*bytes.main, sink, {.control = request.control});
}

}  // namespace

constinit const capture::SourceFormat source_format = {
    .name = "firefox",
    .detect_bytes = kDetectBytes,
    .detect = looks_like_firefox,
    .streams = never,
    .read = read,
    .loss_names = kLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::firefox
