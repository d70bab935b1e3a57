#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stackpack/convert.h"
#include "stackpack/result.h"
#include "symbolize/segment_placement.h"

namespace stackpack::app {

/// A file that processes of a capture had mapped.
struct CapturedImage {
  std::vector<std::uint8_t> build_id;  ///< empty: not recorded
  std::string path;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const CapturedImage&, const CapturedImage&) = default;
};

using CapturedImages = std::map<CapturedImage, std::vector<symbolize::ImageMapping>>;

/// Adds the images of user processes in a capture (options.format: which) or a .spk file, with
/// where they are mapped. What has a name and is no file is left out, but for the code that the
/// kernel maps.
/// Errors: those of convert() and of Reader::open; kCancelled.
Status add_captured_images(const std::string& input, const ConvertOptions& options,
                           ConvertProgress& progress, CapturedImages& images);

}  // namespace stackpack::app
