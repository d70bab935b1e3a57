#include "cli/next_step.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/capture_probe.h"

namespace stackpack::cli {

namespace {

namespace fs = std::filesystem;

// Empty when the error itself says all there is to say.
std::string next_step(const std::string& file, const Error& error) {
  if (error.code == ErrorCode::kNotFound && file == "-") {
    return "a .spk file is read at offsets, not from standard input; give its name";
  }
  const bool unlike = error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated ||
                      error.code == ErrorCode::kUnsupported;
  std::error_code failed;
  const fs::file_status status = fs::status(app::path_of(file), failed);
  // A pipe is left alone: what is read of it is gone.
  if (!unlike || (!fs::is_regular_file(status) && !fs::is_directory(status)) ||
      app::looks_like_packed(file)) {
    return {};
  }
  if (const Result<bool> capture = app::looks_like_capture(file); !capture) {
    return {};
  } else if (*capture) {
    return "is a capture, not a .spk file; convert it first: stackpack convert INPUT -o OUT.spk";
  }
  if (fs::is_directory(status)) {
    return "is a folder, not a .spk file; name the files in it";
  }
  if (fs::is_empty(app::path_of(file), failed)) {
    return "is empty, not a .spk file";
  }
  return "is neither a .spk file nor a capture that stackpack convert reads";
}

}  // namespace

void explain_not_packed(const std::string& file, const Error& error, const Messages& messages) {
  const std::string step = next_step(file, error);
  if (step.empty()) {
    messages.error(file, error);
  } else {
    messages.error(file, step);
  }
}

}  // namespace stackpack::cli
