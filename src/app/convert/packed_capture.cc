#include "app/convert/packed_capture.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/convert/capture_probe.h"

namespace stackpack::app {

Result<PackedCapture> PackedCapture::open(const std::string& path, const ConvertOptions& options,
                                          ConvertProgress* progress) {
  // A pipe must not be looked into: what was read is gone.
  std::error_code failed;
  const bool is_named =
      path == "-" || !options.format.empty() || std::filesystem::is_fifo(path, failed);
  const Result<bool> is_capture = is_named ? true : looks_like_capture(path);
  if (!is_capture) {
    return is_capture.error();
  }
  PackedCapture opened;
  std::string packed = path;
  if (*is_capture) {
    Result<std::unique_ptr<io::ScratchDirectory>> scratch = io::ScratchDirectory::create();
    if (!scratch) {
      return scratch.error();
    }
    opened.scratch_ = std::move(*scratch);
    packed = opened.scratch_->file();
    if (const Result<ConvertReport> report = convert(path, packed, options, progress); !report) {
      return report.error();
    }
  }
  Result<std::unique_ptr<Reader>> reader = Reader::open(packed);
  if (!reader) {
    return reader.error();
  }
  opened.reader_ = std::move(*reader);
  return opened;
}

}  // namespace stackpack::app
