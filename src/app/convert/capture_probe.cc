#include "app/convert/capture_probe.h"

#include <vector>

#include "app/convert/capture_input.h"
#include "io/directories.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace {

bool says_nothing_about_content(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kResource;
}

}  // namespace

Result<bool> looks_like_capture(const std::string& path) {
  // An archive tells what is in it by its directory: nothing is unpacked.
  const Result<std::vector<std::string>> members = captures_in_archive(path);
  if (members && !members->empty()) {
    return true;
  }
  if (!members && says_nothing_about_content(members.error())) {
    return members.error();
  }
  const Result<CaptureInput> opened =
      CaptureInput::open(path, ConvertOptions{}, io::temporary_directory());
  if (!opened && says_nothing_about_content(opened.error())) {
    return opened.error();
  }
  return opened.has_value();
}

}  // namespace stackpack::app
