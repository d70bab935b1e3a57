#include "app/convert/packed_capture.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/convert/capture_probe.h"
#include "io/utf8_path.h"

namespace stackpack::app {

Result<PackedFile> PackedFile::make(const std::string& path, const ConvertOptions& options,
                                    ConvertProgress* progress) {
  // A pipe must not be looked into: what was read is gone.
  std::error_code failed;
  const bool is_named =
      path == "-" || !options.format.empty() || std::filesystem::is_fifo(io::path_of(path), failed);
  const Result<bool> is_capture = is_named ? true : looks_like_capture(path);
  if (!is_capture) {
    return is_capture.error();
  }
  PackedFile packed;
  packed.path_ = path;
  if (*is_capture) {
    Result<std::unique_ptr<io::ScratchDirectory>> scratch = io::ScratchDirectory::create();
    if (!scratch) {
      return scratch.error();
    }
    packed.scratch_ = std::move(*scratch);
    packed.path_ = packed.scratch_->file();
    if (const auto report = convert(path, packed.path_, options, progress); !report) {
      Error error = report.error();
      if (error.part == kOutputPart) {
        error.what = "cannot write a temporary file";  // nobody asked for that output
      }
      return error;
    }
  }
  return packed;
}

Result<PackedCapture> PackedCapture::open(const std::string& path, const ConvertOptions& options,
                                          ConvertProgress* progress) {
  Result<PackedFile> file = PackedFile::make(path, options, progress);
  if (!file) {
    return file.error();
  }
  Result<std::unique_ptr<Reader>> reader = Reader::open(file->path());
  if (!reader) {
    return reader.error();
  }
  PackedCapture opened;
  opened.file_ = std::move(*file);
  opened.reader_ = std::move(*reader);
  return opened;
}

}  // namespace stackpack::app
