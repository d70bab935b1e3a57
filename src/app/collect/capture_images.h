#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// A file that processes of a capture had mapped.
struct CapturedImage {
  std::string path;
  std::vector<std::uint8_t> build_id;  ///< empty: not recorded

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const CapturedImage&, const CapturedImage&) = default;
};

/// The images of user processes in a capture (options.format: which) or a .spk file, each once.
/// What has a name and is no file is left out, but for the code that the kernel maps.
/// Errors: those of convert() and of Reader::open; kCancelled.
Result<std::vector<CapturedImage>> captured_images(const std::string& input,
                                                   const ConvertOptions& options,
                                                   ConvertProgress& progress);

}  // namespace stackpack::app
