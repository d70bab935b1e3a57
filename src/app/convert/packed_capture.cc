#include "app/convert/packed_capture.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "app/convert/capture_probe.h"
#include "io/utf8_path.h"

namespace stackpack::app {

namespace {

Result<std::unique_ptr<io::ScratchDirectory>> pack(const std::string& path,
                                                   const PackingOptions& options, bool reads_twice,
                                                   ConvertProgress* progress) {
  Result<std::unique_ptr<io::ScratchDirectory>> scratch =
      io::ScratchDirectory::create(options.name);
  if (!scratch) {
    return scratch;
  }
  // Unwinding reads a capture for its mappings first: only where there is something to unwind.
  ConvertOptions convert_options = options.convert;
  convert_options.unwind |= options.unwind_dumps && !reads_twice;
  Result<ConvertReport> report = convert(path, (*scratch)->file(), convert_options, progress);
  if (report && options.unwind_dumps && reads_twice &&
      report->statistics.samples.stack_dump_only != 0) {
    convert_options.unwind = true;
    report = convert(path, (*scratch)->file(), convert_options, progress);
  }
  if (!report) {
    Error error = report.error();
    if (error.part == kOutputPart) {
      error.what = "cannot write a temporary file";  // nobody asked for that output
    }
    return error;
  }
  return scratch;
}

Result<std::unique_ptr<io::ScratchDirectory>> rework(const std::string& path,
                                                     const PackingOptions& options,
                                                     const Rework& work,
                                                     std::vector<std::string>& notices) {
  Result<std::unique_ptr<io::ScratchDirectory>> scratch =
      io::ScratchDirectory::create(options.name);
  if (scratch) {
    const auto done = work(path, (*scratch)->file());
    if (!done) {
      return done.error();
    }
    notices.insert(notices.end(), done->begin(), done->end());
  }
  return scratch;
}

}  // namespace

Result<PackedFile> PackedFile::make(const std::string& path, const PackingOptions& options,
                                    ConvertProgress* progress) {
  // A pipe must not be looked into: what was read is gone.
  std::error_code failed;
  const bool is_fifo = std::filesystem::is_fifo(io::path_of(path), failed);
  const bool is_named = path == "-" || !options.convert.format.empty() || is_fifo;
  const Result<bool> is_done = is_named ? Result<bool>(false) : is_packed(path);
  if (!is_done) {
    return is_done.error();
  }
  PackedFile packed;
  packed.path_ = path;
  if (!*is_done) {
    auto scratch = pack(path, options, path != "-" && !is_fifo, progress);
    if (scratch && options.rework) {
      scratch = rework((*scratch)->file(), options, options.rework, packed.notices_);
    }
    if (!scratch) {
      return scratch.error();
    }
    packed.scratch_ = std::move(*scratch);
    packed.path_ = packed.scratch_->file();
  }
  if (options.last_rework) {
    auto scratch = rework(packed.path_, options, options.last_rework, packed.notices_);
    if (!scratch) {
      return scratch.error();
    }
    packed.scratch_ = std::move(*scratch);
    packed.path_ = packed.scratch_->file();
  }
  return packed;
}

Result<PackedCapture> PackedCapture::open(const std::string& path, const PackingOptions& options,
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
