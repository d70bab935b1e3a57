#include "app/merge/merge_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "app/batch/capture_name.h"
#include "app/convert/capture_probe.h"
#include "io/utf8_path.h"

namespace stackpack::app {

namespace {

namespace fs = std::filesystem;

bool is_to_merge(const fs::path& path) {
  if (path.extension() == ".spk" || is_capture_name(io::text_of(path.filename()))) {
    return true;
  }
  const Result<bool> capture = looks_like_capture(io::text_of(path));
  return (capture && *capture) || looks_like_packed(io::text_of(path));
}

Result<std::vector<std::string>> files_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failed;
  fs::recursive_directory_iterator at(io::path_of(folder), failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code unknown;
    if (at->is_regular_file(unknown) && is_to_merge(at->path())) {
      found.push_back(io::text_of(at->path()));
    }
  }
  if (failed) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot be listed",
                 failed.default_error_condition().value()};
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<std::vector<std::string>> files_to_merge(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  std::set<std::string> known;
  const auto add = [&](const std::string& file) {
    if (file == "-" || known.insert(file).second) {
      files.push_back(file);
    }
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::error_code unknown;
    // The folder of perf record --threads is a capture.
    if (!fs::is_directory(io::path_of(inputs[i]), unknown) ||
        fs::exists(io::path_of(inputs[i] + "/data"), unknown)) {
      add(inputs[i]);
      continue;
    }
    const auto below = files_below(inputs[i]);
    if (!below) {
      Error error = below.error();
      error.part = static_cast<std::uint32_t>(i);
      return error;
    }
    std::for_each(below->begin(), below->end(), add);
  }
  return files;
}

}  // namespace stackpack::app
