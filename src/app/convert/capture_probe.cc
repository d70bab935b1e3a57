#include "app/convert/capture_probe.h"

#include <vector>

#include "app/convert/capture_input.h"
#include "stackpack/convert.h"

namespace stackpack::app {

bool looks_like_capture(const std::string& path) {
  // An archive tells what is in it by its directory: nothing is unpacked.
  const Result<std::vector<std::string>> members = captures_in_archive(path);
  if (members && !members->empty()) {
    return true;
  }
  return CaptureInput::open(path, ConvertOptions{}, "/tmp").has_value();
}

}  // namespace stackpack::app
