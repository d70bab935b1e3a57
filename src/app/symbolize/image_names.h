#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// An image whose addresses are to be named.
struct ImageTask {
  std::string path;
  std::vector<std::uint8_t> build_id;
  std::vector<std::uint64_t> offsets;  ///< as SymbolRequest::addresses
};

/// What was found for one.
struct ImageAnswer {
  Names names;
  std::string found;
  std::string debug_file;
  std::string reason;   ///< why there is nothing, or not all
  bool failed = false;  ///< the reader crashed, or passed a limit
};

struct ImageNamesOptions {
  symbolize::SymbolPlaces places;
  bool inlines = true;
  unsigned jobs = 1;
};

/// Names images, several at a time, each in a process of its own; the answers come in the order of
/// the tasks. `done(number of images)` returns false to stop.
/// Errors: kCancelled; kResource.
Result<std::vector<ImageAnswer>> name_images(const std::vector<ImageTask>& tasks,
                                             const ImageNamesOptions& options,
                                             const std::function<bool(std::size_t)>& done);

}  // namespace stackpack::app
